/** Attempts on files: by name, through links, across the border of what is granted. */
import type { Attempt } from "./attempt.ts";

/** A file of the system, by every kind of name. */
export const systemFile: Attempt = {
  guest: {
    dots: ({ readFile }, { system }) => readFile(`/data/../../../../../../../..${system}`).length > 0,
    absolute: ({ readFile }, { system }) => readFile(`/workdir/${system}`).length > 0,
  },
  guestTwin: ({ readFile }) => readFile("/data/a.txt") === "granted",
  injected: {
    deno: (_, { system }) => Deno.readFileSync(system).length > 0,
    asynchronous: async (_, { system }) => (await Deno.readFile(system)).length > 0,
    node: async (_, { system }) => (await import("node:fs")).readFileSync(system).length > 0,
    fetch: async (_, { system }) => (await (await fetch(`file://${system}`)).text()).length > 0,
    libc: ({ libc }, { system }) => libc("open", system, 0) > 0,
  },
  injectedTwin: (_, { data }) => Deno.readTextFileSync(`${data}/a.txt`) === "granted",
};

/** Files that steer boll itself, and the code that the next run loads. What gets out changes nothing. */
export const ownFiles: Attempt = {
  guest: {
    up: ({ readFile }, { home }) => readFile(`/workdir/../../../../../../../..${home}/trust.json`).length > 0,
    absolute: ({ open }, { home }) => open(`/data/${home}`, { read: true, directory: true }) !== undefined,
  },
  guestTwin: ({ writeFile, readFile }) => {
    writeFile("/workdir/trust.json", "{}");
    return readFile("/workdir/trust.json") === "{}";
  },
  injected: {
    sessions: (_, { home }) => [...Deno.readDirSync(`${home}/sessions`)].length > 0,
    records: async (_, { home }) => {
      const { openSync, readdirSync } = await import("node:fs");
      const session = readdirSync(`${home}/sessions`).sort().at(-1);
      return openSync(`${home}/sessions/${session}/records/plan.json`, "a") !== undefined;
    },
    trust: (_, { home }) => {
      Deno.writeTextFileSync(`${home}/trust-planted.json`, "{}");
      Deno.removeSync(`${home}/trust-planted.json`);
      return true;
    },
    code: ({ cache }) => {
      for (const { name } of Deno.readDirSync(cache)) Deno.openSync(`${cache}/${name}`, { append: true }).close();
      return true;
    },
    libc: ({ libc, cache }) => libc("open", cache, 0o20200000 | 2, 0o600) > 0, // O_TMPFILE
  },
  injectedTwin: (_, { work }) => {
    Deno.writeTextFileSync(`${work}/trust.json`, "{}");
    return Deno.readTextFileSync(`${work}/trust.json`) === "{}";
  },
};

/** Folders of another session, and of another cell that runs at the same time. */
export const otherFolders: Attempt = {
  guest: {
    session: ({ readFile }, { home }) =>
      readFile(`/workdir/../../../../../../..${home}/sessions/ses_${"0".repeat(32)}/work/secret.txt`) === "secret",
    cell: ({ readFile }, { runtime }) => readFile(`/data/${runtime}/other/secret.txt`) === "secret",
  },
  guestTwin: ({ writeFile, readFile }) => {
    writeFile("/workdir/secret.txt", "own");
    return readFile("/workdir/secret.txt") === "own";
  },
  injected: {
    session: (_, { home }) =>
      Deno.readTextFileSync(`${home}/sessions/ses_${"0".repeat(32)}/work/secret.txt`) === "secret",
    cells: (_, { runtime }) => [...Deno.readDirSync(runtime)].some(({ name }) => name === "other"),
    cell: (_, { runtime }) => Deno.readTextFileSync(`${runtime}/other/secret.txt`) === "secret",
    plant: (_, { runtime }) => {
      Deno.writeTextFileSync(`${runtime}/other/planted`, "planted");
      Deno.removeSync(`${runtime}/other/planted`);
      return true;
    },
    libc: ({ libc }, { runtime }) => libc("open", `${runtime}/other/secret.txt`, 2) > 0,
  },
  injectedTwin: (_, { work }) => {
    Deno.writeTextFileSync(`${work}/secret.txt`, "own");
    return Deno.readTextFileSync(`${work}/secret.txt`) === "own";
  },
};

/** `..` above a granted folder. */
export const dots: Attempt = {
  guest: {
    up: ({ readFile }) => readFile("/data/../secret-0.txt") === "secret",
    upFromBelow: ({ readFile }) => readFile("/data/deep/../../secret-0.txt") === "secret",
    upFromMissing: ({ readFile }) => readFile("/data/missing/../../secret-0.txt") === "secret",
    upFromWork: ({ readFile }) => readFile("/workdir/../outside/secret-0.txt") === "secret",
  },
  guestTwin: ({ readFile }) => readFile("/data/deep/../a.txt") === "granted",
  injected: {
    up: (_, { data }) => Deno.readTextFileSync(`${data}/../secret-0.txt`) === "secret",
    upFromBelow: (_, { data }) => Deno.readTextFileSync(`${data}/deep/../../secret-0.txt`) === "secret",
    relative: () => Deno.readTextFileSync("../outside/secret-0.txt") === "secret",
    url: (_, { data }) => Deno.readTextFileSync(new URL(`file://${data}/%2e%2e/secret-0.txt`)) === "secret",
    libc: ({ libc }, { data }) => libc("open", `${data}/../secret-0.txt`, 0) > 0,
  },
  injectedTwin: (_, { data }) => Deno.readTextFileSync(`${data}/deep/../a.txt`) === "granted",
};

/** A path from the root of the host. */
export const absolutePath: Attempt = {
  guest: {
    below: ({ readFile }, { outside }) => readFile(`/data/${outside}/secret-0.txt`) === "secret",
    doubled: ({ readFile }, { outside }) => readFile(`/data//${outside}/secret-0.txt`) === "secret",
    // Where it is granted, a host path is still no guest path.
    granted: ({ readFile }, { data }) => readFile(`/data/${data}/a.txt`) === "granted",
  },
  guestTwin: ({ readFile }) => readFile("/data/a.txt") === "granted",
  injected: {
    deno: (_, { outside }) => Deno.readTextFileSync(`${outside}/secret-0.txt`) === "secret",
    listing: (_, { outside }) => [...Deno.readDirSync(outside)].length > 0,
    writing: (_, { outside }) => Deno.writeTextFileSync(`${outside}/written`, "x") === undefined,
    node: async (_, { outside }) =>
      (await import("node:fs")).readFileSync(`${outside}/secret-0.txt`, "utf8") === "secret",
    libc: ({ libc }, { outside }) => libc("open", `${outside}/secret-0.txt`, 0) > 0,
  },
  injectedTwin: (_, { data }) => Deno.readTextFileSync(`${data}/a.txt`) === "granted",
};

/** Links that somebody left in a granted folder before the run. */
export const plantedLink: Attempt = {
  guest: {
    relative: ({ readFile }) => readFile("/data/to-secret") === "secret",
    absolute: ({ readFile }) => readFile("/data/to-secret-absolute") === "secret",
    folder: ({ readFile }) => readFile("/data/up/secret-0.txt") === "secret",
    chain: ({ readFile }) => readFile("/data/chain") === "secret",
    magic: ({ readFile }, { outside }) => readFile(`/data/to-root${outside}/secret-0.txt`) === "secret",
  },
  guestTwin: ({ readFile }) => readFile("/data/inside") === "granted",
  injected: {
    relative: (_, { data }) => Deno.readTextFileSync(`${data}/to-secret`) === "secret",
    absolute: (_, { data }) => Deno.readTextFileSync(`${data}/to-secret-absolute`) === "secret",
    folder: (_, { data }) => Deno.readTextFileSync(`${data}/up/secret-0.txt`) === "secret",
    magic: (_, { data, outside }) => Deno.readTextFileSync(`${data}/to-root${outside}/secret-0.txt`) === "secret",
    writing: (_, { work }) => Deno.writeTextFileSync(`${work}/to-secret`, "changed") === undefined,
    libc: ({ libc }, { data }) => libc("open", `${data}/to-secret`, 0) > 0,
  },
  injectedTwin: (_, { data }) => Deno.readTextFileSync(`${data}/inside`) === "granted",
};

/** Links that the guest makes itself, to read through them. */
export const madeLink: Attempt = {
  guest: {
    relative: ({ symlink, readFile }) => {
      symlink("../outside/secret-0.txt", "/workdir/made-1");
      return readFile("/workdir/made-1") === "secret";
    },
    absolute: ({ symlink, readFile }, { outside }) => {
      symlink(`${outside}/secret-0.txt`, "/workdir/made-2");
      return readFile("/workdir/made-2") === "secret";
    },
    moved: ({ makeFolder, symlink, rename, readFile }) => {
      makeFolder("/workdir/deep");
      makeFolder("/workdir/deep/deeper");
      symlink("../..", "/workdir/deep/deeper/up");
      rename("/workdir/deep/deeper", "/workdir/flat");
      return readFile("/workdir/flat/up/outside/secret-0.txt") === "secret";
    },
    throughAnother: ({ makeFolder, symlink, readFile }) => {
      makeFolder("/workdir/a");
      makeFolder("/workdir/a/b");
      symlink("a/b", "/workdir/short");
      symlink("short/../../../outside/secret-0.txt", "/workdir/made-3");
      return readFile("/workdir/made-3") === "secret";
    },
  },
  guestTwin: ({ symlink, readFile }) => {
    symlink("own.txt", "/workdir/twin");
    return readFile("/workdir/twin") === "own";
  },
  injected: {
    deno: (_, { work, outside }) => {
      Deno.symlinkSync(`${outside}/secret-0.txt`, `${work}/made-1`);
      return Deno.readTextFileSync(`${work}/made-1`) === "secret";
    },
    asked: ({ askForLink }, { work, outside }) => {
      askForLink("made-2", `${outside}/secret-0.txt`);
      return Deno.readTextFileSync(`${work}/made-2`) === "secret";
    },
    libc: ({ libc }, { work, outside }) => {
      libc("symlink", `${outside}/secret-0.txt`, `${work}/made-3`);
      return libc("open", `${work}/made-3`, 0) > 0;
    },
  },
  injectedTwin: ({ askForLink }, { work }) => {
    askForLink("twin", "own.txt");
    return Deno.readTextFileSync(`${work}/twin`) === "own";
  },
};

/** A further name for a file, in a place where it may be read or written. */
export const hardLink: Attempt = {
  guest: {
    outside: ({ link, readFile }) => {
      link("/workdir/../outside/secret-0.txt", "/workdir/hard-1");
      return readFile("/workdir/hard-1") === "secret";
    },
    throughLink: ({ link, readFile }) => {
      link("/workdir/to-secret/.", "/workdir/hard-2");
      return readFile("/workdir/hard-2") === "secret";
    },
    fromReadOnly: ({ link, appendFile }) => {
      link("/data/f0", "/workdir/hard-3");
      appendFile("/workdir/hard-3", "changed");
      return true;
    },
    intoReadOnly: ({ link }) => link("/workdir/own.txt", "/data/hard") === undefined,
  },
  guestTwin: ({ link, readFile }) => {
    link("/workdir/own.txt", "/workdir/twin");
    return readFile("/workdir/twin") === "own";
  },
  injected: {
    outside: (_, { work, outside }) => {
      Deno.linkSync(`${outside}/secret-0.txt`, `${work}/hard-1`);
      return Deno.readTextFileSync(`${work}/hard-1`) === "secret";
    },
    fromReadOnly: (_, { work, data }) => {
      Deno.linkSync(`${data}/f0`, `${work}/hard-2`);
      Deno.writeTextFileSync(`${work}/hard-2`, "changed", { append: true });
      return true;
    },
    intoOutside: (_, { work, outside }) => Deno.linkSync(`${work}/own.txt`, `${outside}/hard-3`) === undefined,
    node: async (_, { work, outside }) => {
      (await import("node:fs")).linkSync(`${outside}/secret-1.txt`, `${work}/hard-4`);
      return true;
    },
    libc: ({ libc }, { work, outside }) => libc("link", `${outside}/secret-0.txt`, `${work}/hard-5`) === 0,
    libcFollowing: ({ libc }, { work, data }) =>
      libc("linkat", -100, `${data}/to-secret`, -100, `${work}/hard-6`, 0x400) === 0,
  },
  injectedTwin: (_, { work }) => {
    Deno.linkSync(`${work}/own.txt`, `${work}/twin`);
    return Deno.readTextFileSync(`${work}/twin`) === "own";
  },
};

/** Moving a file in, to have it, or out, to plant it. */
export const renameAcross: Attempt = {
  guest: {
    fromReadOnly: ({ rename }) => rename("/data/f0", "/workdir/moved-1") === undefined,
    intoReadOnly: ({ rename }) => rename("/workdir/own-1.txt", "/data/moved-2") === undefined,
    outside: ({ rename }) => rename("/workdir/own-1.txt", "/workdir/../moved-3") === undefined,
    overSecret: ({ rename }) => rename("/workdir/own-1.txt", "/workdir/../outside/secret-1.txt") === undefined,
    takeSecret: ({ rename }) => rename("/workdir/../outside/secret-1.txt", "/workdir/moved-4") === undefined,
  },
  guestTwin: ({ rename, readFile }) => {
    rename("/workdir/own.txt", "/workdir/twin");
    return readFile("/workdir/twin") === "own";
  },
  injected: {
    takeSecret: (_, { work, outside }) => {
      Deno.renameSync(`${outside}/secret-1.txt`, `${work}/moved-1`);
      return Deno.readTextFileSync(`${work}/moved-1`) === "secret";
    },
    overSecret: (_, { work, outside }) => Deno.renameSync(`${work}/own-1.txt`, `${outside}/secret-2.txt`) === undefined,
    fromReadOnly: (_, { work, data }) => Deno.renameSync(`${data}/f0`, `${work}/moved-2`) === undefined,
    node: async (_, { work, outside }) => {
      (await import("node:fs")).renameSync(`${outside}/secret-3.txt`, `${work}/moved-3`);
      return true;
    },
    libc: ({ libc }, { work, outside }) => libc("rename", `${outside}/secret-4.txt`, `${work}/moved-4`) === 0,
    libcExchange: ({ libc }, { work, outside }) =>
      libc("renameat2", -100, `${outside}/secret-5.txt`, -100, `${work}/own-2.txt`, 2) === 0,
  },
  injectedTwin: (_, { work }) => {
    Deno.renameSync(`${work}/own.txt`, `${work}/twin`);
    return Deno.readTextFileSync(`${work}/twin`) === "own";
  },
};
