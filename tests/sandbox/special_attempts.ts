/** Attempts with what is no plain content: kinds of files, their modes, and what all threads of a process share. */
import type { Attempt } from "./attempt.ts";

/** Devices, FIFOs and sockets that somebody left in a granted folder. */
export const specialFiles: Attempt = {
  guest: {
    fifo: ({ open }) => open("/data/planted-fifo", { read: true }) !== undefined,
    fifoAsFolder: ({ open }) => open("/data/planted-fifo", { directory: true }) !== undefined,
    socket: ({ open }) => open("/data/planted-socket", { read: true }) !== undefined,
    device: ({ open }) => open("/data/planted-zero", { read: true }) !== undefined,
    disk: ({ open }) => open("/data/planted-disk", { read: true }) !== undefined,
  },
  guestTwin: ({ open }) => open("/data/f0", { read: true }) !== undefined,
  injected: {
    fifo: async (_, { data }) => {
      const { openSync, constants } = await import("node:fs");
      return openSync(`${data}/planted-fifo`, constants.O_RDONLY | constants.O_NONBLOCK) > 0;
    },
    libcFifo: ({ libc }, { data }) => libc("open", `${data}/planted-fifo`, 0o4000) > 0,
  },
  byHost: {
    // Root alone makes devices, and a file system may be mounted so that it has none.
    device: (_, { data }) => {
      using device = Deno.openSync(`${data}/planted-zero`);
      return device.readSync(new Uint8Array(16)) === 16;
    },
    disk: ({ libc }, { data }) => libc("open", `${data}/planted-disk`, 0) > 0,
  },
  injectedTwin: (_, { data }) => {
    using file = Deno.openSync(`${data}/f0`);
    return file.readSync(new Uint8Array(7)) === 7;
  },
};

/** Making such files, where others find them. */
export const madeSpecial: Attempt = {
  guest: {}, // WASI has no call for it
  guestTwin: ({ writeFile, readFile }) => {
    writeFile("/workdir/plain", "plain");
    return readFile("/workdir/plain") === "plain";
  },
  injected: {
    fifo: ({ kernel }, { work }) => kernel("mknodat", -100, `${work}/fifo`, 0o010600, 0) === 0,
    socket: ({ kernel }, { work }) => kernel("mknodat", -100, `${work}/socket-1`, 0o140600, 0) === 0,
    listen: (_, { work }) => {
      using _listener = Deno.listen({ transport: "unix", path: `${work}/socket-2` });
      return Deno.lstatSync(`${work}/socket-2`).isSocket === true;
    },
  },
  asRoot: {
    device: ({ kernel }, { work }) => kernel("mknodat", -100, `${work}/zero`, 0o020600, 1 << 8 | 5) === 0,
    disk: ({ kernel }, { work }) => kernel("mknodat", -100, `${work}/disk`, 0o060600, 7 << 8) === 0,
  },
  injectedTwin: (_, { work }) => {
    Deno.writeTextFileSync(`${work}/plain`, "plain");
    return Deno.lstatSync(`${work}/plain`).isFile;
  },
};

/** Programs left in a writable mount that whoever starts them runs as the user of the cell. */
export const lentRights: Attempt = {
  guest: {}, // WASI has no modes
  guestTwin: ({ writeFile, readFile }) => {
    writeFile("/workdir/plain", "plain");
    return readFile("/workdir/plain") === "plain";
  },
  injected: {
    mode: (_, { work }) => {
      Deno.chmodSync(`${work}/own-1.txt`, 0o4755);
      return (Deno.lstatSync(`${work}/own-1.txt`).mode! & 0o4000) !== 0;
    },
    open: ({ libc }, { work }) => {
      libc("open", `${work}/lent-1`, 0o101, 0o4755);
      return (Deno.lstatSync(`${work}/lent-1`).mode! & 0o4000) !== 0;
    },
    openGroup: ({ kernel }, { work }) => {
      kernel("openat", -100, `${work}/lent-2`, 0o101, 0o2755);
      return (Deno.lstatSync(`${work}/lent-2`).mode! & 0o2000) !== 0;
    },
    open2: ({ kernel }, { work }) => {
      kernel("openat2", -100, `${work}/lent-3`, new BigUint64Array([0o101n, 0o4755n, 0n]), 24);
      return (Deno.lstatSync(`${work}/lent-3`).mode! & 0o4000) !== 0;
    },
    creat: ({ reaches, kernel }, { work }) => {
      reaches("creat", `${work}/lent-4`, 0o755); // not every architecture has it
      kernel("creat", `${work}/lent-5`, 0o4755);
      return (Deno.lstatSync(`${work}/lent-5`).mode! & 0o4000) !== 0;
    },
    withoutName: ({ kernel, libc }, { work }) => {
      const file = kernel("openat", -100, work, 0o20200002, 0o4755);
      libc("linkat", -100, `/proc/self/fd/${file}`, -100, `${work}/lent-6`, 0x400);
      return (Deno.lstatSync(`${work}/lent-6`).mode! & 0o4000) !== 0;
    },
    node: ({ kernel }, { work }) => {
      kernel("mknodat", -100, `${work}/lent-7`, 0o104755, 0);
      return (Deno.lstatSync(`${work}/lent-7`).mode! & 0o4000) !== 0;
    },
  },
  injectedTwin: (_, { work }) => {
    Deno.openSync(`${work}/plain`, { createNew: true, write: true, mode: 0o700 }).close();
    return Deno.lstatSync(`${work}/plain`).isFile;
  },
};

/** The folder and the mask that every thread of the cell works with, its main one too. */
export const processState: Attempt = {
  guest: {},
  guestTwin: ({ readFile }) => readFile("/data/a.txt") === "granted",
  injected: {
    folder: ({ libc }, { data, outside }) => {
      Deno.chdir(data);
      const moved = Deno.cwd() === data;
      try {
        libc("chdir", outside);
      } catch {
        // Behind a wall nothing of this run asks for it again.
      }
      return moved;
    },
    libcFolder: ({ libc }, { outside }) => libc("chdir", outside) === 0,
    handle: ({ libc }, { outside }) => libc("fchdir", libc("open", outside, 0)) === 0,
    mask: () => {
      const before = Deno.umask(0o127);
      return Deno.umask(before) === 0o127;
    },
    libcMask: ({ libc }) => {
      const before = libc("umask", 0o127);
      return libc("umask", before) === 0o127;
    },
  },
  injectedTwin: (_, { data }) => Deno.readTextFileSync(`${data}/a.txt`) === "granted",
};
