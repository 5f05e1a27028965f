/** Attempts to change what is mounted read-only, through every flag and call. */
import type { Attempt } from "./attempt.ts";

/** Content and names. */
export const writeReadOnly: Attempt = {
  guest: {
    write: ({ open }) => open("/data/f0", { write: true }) !== undefined,
    readWrite: ({ open }) => open("/data/f0", { read: true, write: true }) !== undefined,
    create: ({ open }) => open("/data/new-1", { create: true }) !== undefined,
    createExisting: ({ open }) => open("/data/f0", { create: true, read: true }) !== undefined,
    exclusive: ({ open }) => open("/data/new-2", { create: true, exclusive: true, write: true }) !== undefined,
    truncate: ({ open }) => open("/data/f0", { read: true, truncate: true }) !== undefined,
    append: ({ appendFile }) => appendFile("/data/f0", "changed") === undefined,
    mutateDirectory: ({ open }) => {
      const folder = open("/data/deep", { read: true, directory: true, mutateDirectory: true }) as {
        createDirectoryAt(name: string): void;
      };
      return folder.createDirectoryAt("new-3") === undefined;
    },
    setSize: ({ open }) => {
      const file = open("/data/f0", { read: true }) as { setSize(bytes: number): void };
      return file.setSize(0) === undefined;
    },
    times: ({ setTimes }) => setTimes("/data/f0", { tag: "now" }, { tag: "now" }) === undefined,
    makeFolder: ({ makeFolder }) => makeFolder("/data/new-4") === undefined,
    removeFile: ({ removeFile }) => removeFile("/data/f1") === undefined,
    removeFolder: ({ removeFolder }) => removeFolder("/data/empty") === undefined,
    rename: ({ rename }) => rename("/data/f2", "/data/f2-moved") === undefined,
    link: ({ link }) => link("/data/f3", "/data/f3-linked") === undefined,
    symlink: ({ symlink }) => symlink("f4", "/data/f4-linked") === undefined,
    throughLinkInWork: ({ writeFile }) => writeFile("/workdir/to-data/f0", "changed") === undefined,
  },
  guestTwin: ({ open, removeFile, makeFolder, rename, writeFile, readFile }) => {
    open("/workdir/new", { create: true, exclusive: true, write: true });
    writeFile("/workdir/new", "new");
    makeFolder("/workdir/folder");
    rename("/workdir/new", "/workdir/folder/new");
    const text = readFile("/workdir/folder/new");
    removeFile("/workdir/folder/new");
    return text === "new";
  },
  injected: {
    write: (_, { data }) => Deno.openSync(`${data}/f0`, { write: true }) !== undefined,
    append: (_, { data }) => Deno.writeTextFileSync(`${data}/f0`, "changed", { append: true }) === undefined,
    create: (_, { data }) => Deno.openSync(`${data}/new-1`, { createNew: true, write: true }) !== undefined,
    truncate: (_, { data }) => Deno.truncateSync(`${data}/f1`) === undefined,
    makeFolder: (_, { data }) => Deno.mkdirSync(`${data}/new-2`) === undefined,
    remove: (_, { data }) => Deno.removeSync(`${data}/f2`) === undefined,
    rename: (_, { data }) => Deno.renameSync(`${data}/f3`, `${data}/f3-moved`) === undefined,
    copy: (_, { data }) => Deno.copyFileSync(`${data}/a.txt`, `${data}/copied`) === undefined,
    utime: (_, { data }) => Deno.utimeSync(`${data}/f5`, 0, 0) === undefined,
    symlink: (_, { data }) => Deno.symlinkSync("a.txt", `${data}/soft`) === undefined,
    link: (_, { data }) => Deno.linkSync(`${data}/f6`, `${data}/hard`) === undefined,
    node: async (_, { data }) => (await import("node:fs")).appendFileSync(`${data}/f7`, "changed") === undefined,
    libcOpen: ({ libc }, { data }) => libc("open", `${data}/f8`, 1) > 0,
    libcTruncateReadOnly: ({ libc }, { data }) => libc("open", `${data}/f9`, 0o1000) > 0,
    libcTruncate: ({ libc }, { data }) => libc("truncate", `${data}/f10`, 0) === 0,
    libcUtimes: ({ libc }, { data }) => libc("utimes", `${data}/f14`, 0) === 0,
    libcFifo: ({ libc }, { data }) => libc("mkfifo", `${data}/fifo`, 0o600) === 0,
  },
  injectedTwin: (_, { work }) => {
    Deno.writeTextFileSync(`${work}/new`, "new", { createNew: true });
    Deno.mkdirSync(`${work}/folder`);
    Deno.renameSync(`${work}/new`, `${work}/folder/new`);
    Deno.truncateSync(`${work}/folder/new`, 1);
    const text = Deno.readTextFileSync(`${work}/folder/new`);
    Deno.removeSync(`${work}/folder/new`);
    return text === "n";
  },
};

/** Who may do what with a file. */
export const modeOfReadOnly: Attempt = {
  guest: {}, // WASI has no call for it
  guestTwin: ({ writeFile, readFile }) => {
    writeFile("/workdir/own.txt", "changed");
    return readFile("/workdir/own.txt") === "changed";
  },
  injected: {
    path: (_, { data }) => Deno.chmodSync(`${data}/f0`, 0o777) === undefined,
    handle: async (_, { data }) => {
      const { openSync, fchmodSync } = await import("node:fs");
      return fchmodSync(openSync(`${data}/f1`, "r"), 0o777) === undefined;
    },
    libcPath: ({ libc }, { data }) => libc("chmod", `${data}/f2`, 0o777) === 0,
    libcHandle: ({ libc }, { data }) => libc("fchmod", libc("open", `${data}/f3`, 0), 0o777) === 0,
  },
  injectedTwin: (_, { work }) => {
    Deno.writeTextFileSync(`${work}/own.txt`, "changed");
    return Deno.readTextFileSync(`${work}/own.txt`) === "changed";
  },
};

/** Times of a file that is open for reading: Linux asks for no right to write it. */
export const timesOfReadOnly: Attempt = {
  guest: {
    atPath: ({ setTimes }) => setTimes("/data/f0", { tag: "now" }, { tag: "now" }) === undefined,
    atDescriptor: ({ open }) => {
      const file = open("/data/f0", { read: true }) as { setTimes(access: unknown, modification: unknown): void };
      return file.setTimes({ tag: "now" }, { tag: "now" }) === undefined;
    },
    atFolder: ({ open }) => {
      const folder = open("/data/deep", { read: true, directory: true }) as {
        setTimes(access: unknown, modification: unknown): void;
      };
      return folder.setTimes({ tag: "now" }, { tag: "now" }) === undefined;
    },
  },
  guestTwin: ({ setTimes }) => setTimes("/workdir/own.txt", { tag: "now" }, { tag: "now" }) === undefined,
  injected: {
    handle: (_, { data }) => {
      using file = Deno.openSync(`${data}/f0`);
      return file.utimeSync(0, 0) === undefined;
    },
    node: async (_, { data }) => {
      const { openSync, futimesSync } = await import("node:fs");
      return futimesSync(openSync(`${data}/f1`, "r"), 0, 0) === undefined;
    },
    libc: ({ libc }, { data }) => libc("futimens", libc("open", `${data}/f2`, 0), 0) === 0,
  },
  injectedTwin: (_, { work }) => {
    using file = Deno.openSync(`${work}/own.txt`, { write: true });
    return file.utimeSync(0, 0) === undefined;
  },
};
