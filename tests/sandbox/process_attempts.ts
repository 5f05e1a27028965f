/** Attempts on processes: what `/proc` shows, programs, the parent, code from elsewhere. */
import type { Attempt } from "./attempt.ts";

/** The magic links of `/proc` that lead to the whole file system. */
export const procFolders: Attempt = {
  guest: {
    root: ({ readFile }, { outside }) => readFile(`/data//proc/self/root${outside}/secret-0.txt`) === "secret",
    cwd: ({ readFile }) => readFile("/data//proc/self/cwd/secret-0.txt") === "secret",
    dots: ({ readFile }) => readFile("/data/../../../../../../../proc/self/cwd/secret-0.txt") === "secret",
    plantedRoot: ({ readFile }, { outside }) => readFile(`/data/to-root${outside}/secret-0.txt`) === "secret",
    plantedCwd: ({ readFile }) => readFile("/data/to-cwd/secret-0.txt") === "secret",
  },
  guestTwin: ({ readFile }) => readFile("/data/self/a.txt") === "granted",
  injected: {
    root: ({ libc }, { outside }) => libc("open", `/proc/self/root${outside}/secret-0.txt`, 0) > 0,
    cwd: ({ libc }) => libc("open", "/proc/self/cwd/secret-0.txt", 0) > 0,
    thread: ({ libc }, { outside }) => libc("open", `/proc/thread-self/root${outside}/secret-0.txt`, 0) > 0,
    parentRoot: ({ libc, parent }, { outside }) => libc("open", `/proc/${parent}/root${outside}/secret-0.txt`, 0) > 0,
    parentDescriptor: ({ libc, parent }) => libc("open", `/proc/${parent}/fd/9`, 0) > 0,
  },
  runtimeRefuses: {
    root: (_, { outside }) => Deno.readTextFileSync(`/proc/self/root${outside}/secret-0.txt`) === "secret",
    cwd: () => Deno.readTextFileSync("/proc/self/cwd/secret-0.txt") === "secret",
    granted: (_, { data }) => Deno.readTextFileSync(`/proc/self/root${data}/a.txt`) === "granted",
    node: async () => (await import("node:fs")).readFileSync("/proc/self/cwd/secret-0.txt", "utf8") === "secret",
    parentDescriptor: ({ parent }) => Deno.readTextFileSync(`/proc/${parent}/fd/9`) === "secret",
  },
  injectedTwin: (_, { data }) => Deno.readTextFileSync(`${data}/self/a.txt`) === "granted",
};

/** A descriptor that whoever started boll had open. */
export const procDescriptors: Attempt = {
  guest: {
    absolute: ({ readFile }) => readFile("/data//proc/self/fd/9") === "secret",
    planted: ({ readFile }) => readFile("/data/to-fd/9") === "secret",
  },
  guestTwin: ({ open }) => open("/data/a.txt", { read: true }) !== undefined,
  injected: {
    // The number may be another file's by now: what counts is what is in it.
    open: ({ libc }) => {
      const bytes = new Uint8Array(6);
      libc("pread", libc("open", "/proc/self/fd/9", 0o4000), bytes, 6, 0);
      return new TextDecoder().decode(bytes) === "secret";
    },
    operation: ({ operations }) => {
      const bytes = new Uint8Array(6);
      const file = operations.op_node_file_from_fd!(9);
      operations.op_fs_seek_sync!(file, 0, 0);
      operations.op_read_sync!(file, bytes);
      return new TextDecoder().decode(bytes) === "secret";
    },
    read: ({ libc }) => {
      const bytes = new Uint8Array(6);
      libc("pread", 9, bytes, 6, 0);
      return new TextDecoder().decode(bytes) === "secret";
    },
    write: ({ operations }) => {
      const bytes = new Uint8Array(6);
      const file = operations.op_node_file_from_fd!(7);
      operations.op_fs_seek_sync!(file, 0, 0);
      operations.op_read_sync!(file, bytes);
      if (new TextDecoder().decode(bytes) !== "caller") return false;
      return operations.op_write_sync!(file, bytes) === 6;
    },
    libcWrite: ({ libc }) => {
      const bytes = new Uint8Array(6);
      libc("pread", 7, bytes, 6, 0);
      return new TextDecoder().decode(bytes) === "caller" && libc("pwrite", 7, bytes, 6, 6) === 6;
    },
  },
  runtimeRefuses: {
    proc: () => Deno.readTextFileSync("/proc/self/fd/9") === "secret",
    dev: () => Deno.readTextFileSync("/dev/fd/9") === "secret",
    node: async () => (await import("node:fs")).readSync(9, new Uint8Array(6)) === 6,
  },
  injectedTwin: (_, { data }) => {
    using file = Deno.openSync(`${data}/a.txt`);
    return file.readSync(new Uint8Array(7)) === 7;
  },
};

/** Another program. A guest has no such import: see the test of `wants_evil`. */
export const exec: Attempt = {
  guest: {},
  guestTwin: ({ readFile }) => readFile("/data/a.txt") === "granted",
  injected: {
    // With this process's own stdin, so that it is the program that is refused, and not /dev/null.
    deno: () => new Deno.Command("/bin/sh", { args: ["-c", "exit 7"], stdin: "inherit" }).outputSync().code === 7,
    spawn: async () => (await new Deno.Command("/bin/sh", { args: ["-c", "exit 7"] }).spawn().status).code === 7,
    node: async () => {
      const { spawnSync } = await import("node:child_process");
      return spawnSync("/bin/sh", ["-c", "exit 7"], { stdio: "inherit" }).status === 7;
    },
    itself: () => {
      const options: Deno.CommandOptions = { args: ["version"], clearEnv: true, env: { HOME: "/" }, stdin: "inherit" };
      return new Deno.Command(Deno.execPath(), options).outputSync().success;
    },
    libc: ({ libc }) => libc("system", "exit 7") === 7 << 8,
    kernel: ({ reaches }) => reaches("execve", "/nowhere", 0, 0),
    memory: ({ kernel }) => kernel("memfd_create", "program", 0) > 0,
    withoutName: ({ reaches }) => reaches("execveat", 0, "", 0, 0, 0x1000),
    library: ({ reaches }) => reaches("uselib", "/nowhere"),
  },
  injectedTwin: (_, { data }) => Deno.readTextFileSync(`${data}/a.txt`) === "granted",
};

/** The variables that boll was started with, as they reach the cell. */
export const inheritedEnvironment: Attempt = {
  guest: {
    variables: ({ env }) => "ESCAPE_SECRET" in env || "BOLL_HOME" in env || "PATH" in env,
  },
  guestTwin: ({ env }) => env.GRANTED === "value",
  injected: {
    deno: () => Deno.env.get("ESCAPE_SECRET") === "secret",
    node: async () => (await import("node:process")).env.ESCAPE_SECRET === "secret",
    operation: ({ operations }) => operations.op_get_env_no_permission_check!("ESCAPE_SECRET") === "secret",
    libc: ({ libc }) => libc("getenv", "ESCAPE_SECRET") !== 0,
  },
  injectedTwin: ({ env }) => env.some(([name, value]) => name === "GRANTED" && value === "value"),
};

/** What the parent has in its memory, its environment and its arguments. */
export const parentProcess: Attempt = {
  guest: {
    ownArguments: ({ args }) => args.some((word) => word === "--work" || word === "run"),
    proc: ({ readFile }) => readFile("/data//proc/self/environ").length > 0,
    planted: ({ readFile }) => readFile("/data/to-init/cmdline").length > 0,
  },
  guestTwin: ({ args }) => args.length === 1,
  injected: {
    environment: ({ libc, parent }) => libc("open", `/proc/${parent}/environ`, 0) > 0,
    arguments: ({ libc, parent }) => libc("open", `/proc/${parent}/cmdline`, 0) > 0,
    memory: ({ libc, parent }) => libc("open", `/proc/${parent}/mem`, 2) > 0,
    signal: ({ parent }) => Deno.kill(parent, "SIGCONT") === undefined,
    libcSignal: ({ libc, parent }) => libc("kill", parent, 0) === 0,
    libcTrace: ({ libc, parent }) => libc("ptrace", 0x4206, parent, 0, 0) === 0,
    libcDescriptor: ({ libc, parent }) => libc("pidfd_getfd", libc("pidfd_open", parent, 0), 9, 0) > 0,
  },
  runtimeRefuses: {
    environment: ({ parent }) => Deno.readTextFileSync(`/proc/${parent}/environ`).length > 0,
    arguments: ({ parent }) => Deno.readTextFileSync(`/proc/${parent}/cmdline`).length > 0,
    ownArguments: () => Deno.args.some((word) => word === "run" || word === "--work"),
  },
  injectedTwin: () => Deno.args.every((word) => word.startsWith("--standing-walls=")),
};

/** Code and data from a file outside, by the loader of modules. */
export const importOutside: Attempt = {
  guest: {
    import: (_, { outside }) => {
      let loaded: unknown;
      new Function("path", "done", "import(path).then(done, () => {})")(
        `${outside}/secret.json`,
        (module: unknown) => loaded = module,
      );
      return loaded !== undefined;
    },
  },
  guestTwin: ({ readFile }) => readFile("/data/granted.json") === '{"granted":true}',
  injected: {
    json: async (_, { outside }) =>
      (await import(`file://${outside}/secret.json`, { with: { type: "json" } })).default.secret === true,
    operation: ({ operations }, { outside }) =>
      (operations.op_import_sync!(`file://${outside}/secret.js`) as { secret: boolean }).secret === true,
    script: async (_, { outside }) => (await import(`file://${outside}/secret.js`)).secret === true,
    worker: async (_, { outside }) => {
      const worker = new Worker(`file://${outside}/secret.js`, { type: "module" });
      const answer = await new Promise((resolve) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = (event) => {
          event.preventDefault();
          resolve(undefined);
        };
      });
      worker.terminate();
      return answer === "secret";
    },
  },
  runtimeRefuses: {
    require: async (_, { outside }) =>
      (await import("node:module")).createRequire(`file://${outside}/x.js`)("./secret.json").secret === true,
  },
  injectedTwin: async (_, { data }) =>
    (await import(`file://${data}/granted.json`, { with: { type: "json" } })).default.granted === true,
};

/** What the kernel shows of processes and of itself as files. */
export const kernelFiles: Attempt = {
  guest: {
    maps: ({ readFile }) => readFile("/data//proc/self/maps").length > 0,
    dots: ({ readFile }) => readFile("/data/../../../../../../../proc/self/maps").length > 0,
    device: ({ readFile }) => readFile("/workdir/../../../../../../../dev/null") === "",
    settings: ({ open }) => open("/data//sys", { directory: true }) !== undefined,
  },
  guestTwin: ({ readFile }) => readFile("/data/a.txt") === "granted",
  injected: {
    maps: ({ libc }) => libc("open", "/proc/self/maps", 0) > 0,
    memory: ({ libc }) => libc("open", "/proc/self/mem", 2) > 0,
    environment: ({ libc }) => libc("open", "/proc/self/environ", 0) > 0,
    descriptors: ({ libc }) => libc("open", "/proc/self/fd", 0o200000) > 0,
    parentMaps: ({ libc, parent }) => libc("open", `/proc/${parent}/maps`, 0) > 0,
    parentCwd: ({ libc, parent }) => libc("open", `/proc/${parent}/cwd/secret-0.txt`, 0) > 0,
    parentDescriptors: ({ libc, parent }) => libc("open", `/proc/${parent}/fd`, 0o200000) > 0,
    parentThreads: ({ libc, parent }) => libc("open", `/proc/${parent}/task`, 0o200000) > 0,
    processes: ({ libc }) => libc("open", "/proc", 0o200000) > 0,
    settings: ({ libc }) => libc("open", "/proc/sys/kernel/hostname", 0) > 0,
    machine: ({ libc }) => libc("open", "/sys", 0o200000) > 0,
    devices: ({ libc }) => libc("open", "/dev", 0o200000) > 0,
    terminal: ({ libc }) => libc("open", "/dev/ptmx", 2) > 0,
  },
  byHost: {
    settings: ({ libc }) => libc("open", "/proc/sys/kernel/core_pattern", 1) > 0,
    keys: ({ libc }) => libc("open", "/proc/sysrq-trigger", 1) > 0,
    memory: ({ libc }) => libc("open", "/dev/mem", 0) > 0,
    log: ({ libc }) => libc("open", "/dev/kmsg", 0o4000) > 0,
  },
  runtimeRefuses: {
    maps: () => Deno.readTextFileSync("/proc/self/maps").length > 0,
    memory: () => Deno.openSync("/proc/self/mem", { write: true }) !== undefined,
    parentMaps: ({ parent }) => Deno.readTextFileSync(`/proc/${parent}/maps`).length > 0,
  },
  injectedTwin: (_, { data }) => Deno.readTextFileSync(`${data}/a.txt`) === "granted",
};
