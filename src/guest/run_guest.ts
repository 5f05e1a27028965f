import { instantiate, type LoadedComponent } from "../component/mod.ts";
import type { CellUsage, GuestEnding, RunLoad } from "../protocol/mod.ts";
import {
  closedSink,
  closedSource,
  createWasi,
  type Denial,
  inheritedSink,
  inheritedStdin,
  type Preopen,
  type SymlinkPlace,
  type WasiHost,
} from "../wasi/mod.ts";
import { classifyThrown } from "./classify_thrown.ts";
import type { GuestReport } from "./worker_messages.ts";

/** What a guest's thread can ask of the outside. */
export interface GuestPorts {
  onDenied(denial: Denial): void;
  /** Throws the WASI error code as a string. */
  makeSymlink(place: SymlinkPlace): void;
}

/** The folders a run's guest sees, work folder first. */
export function preopensOf(load: RunLoad): Preopen[] {
  const { work, mounts } = load.grants.fs;
  const own = work !== undefined && load.folders.work !== undefined
    ? [{ guest: "/workdir", host: load.folders.work, mode: work }]
    : [];
  return [...own, ...mounts.map(({ guest, host, mode }) => ({ guest, host: host!, mode }))];
}

/** Links the component against exactly what its grants allow, calls `wasi:cli/run`, and says how it ended. */
export async function runGuest(load: RunLoad, loaded: LoadedComponent, ports: GuestPorts): Promise<GuestReport> {
  const host = createHost(load, ports);
  const memories = new Set<WebAssembly.Memory>();
  const ending = await callRun(host, loaded, memories);
  host.close();
  return { ending, usage: measure(host, memories, load) };
}

function createHost(load: RunLoad, ports: GuestPorts): WasiHost {
  const { grants } = load;
  return createWasi({
    args: load.args,
    env: load.env,
    preopens: preopensOf(load),
    stdin: grants.stdio ? inheritedStdin() : closedSource(),
    stdout: grants.stdio ? inheritedSink(1) : closedSink(),
    stderr: grants.stdio ? inheritedSink(2) : closedSink(),
    terminal: {
      stdin: grants.stdio && load.terminal[0],
      stdout: grants.stdio && load.terminal[1],
      stderr: grants.stdio && load.terminal[2],
    },
    ...(grants.fs.work === undefined ? {} : { cwd: "/workdir" }),
    interfaces: { clocks: grants.clocks, random: grants.random },
    limits: {
      openFiles: grants.limits.open_files,
      fileBytes: grants.limits.file_bytes,
      workBytes: grants.limits.work_bytes,
      ...(grants.limits.output_bytes === undefined ? {} : { outputBytes: grants.limits.output_bytes }),
    },
    onDenied: ports.onDenied,
    makeSymlink: ports.makeSymlink,
  });
}

async function callRun(
  host: WasiHost,
  loaded: LoadedComponent,
  memories: Set<WebAssembly.Memory>,
): Promise<GuestEnding> {
  try {
    const exports = await instantiate(loaded, host.imports, (instance) => collectMemories(instance, memories));
    await findRun(exports)();
    return { kind: "exit", code: 0 };
  } catch (thrown) {
    return classifyThrown(thrown);
  }
}

/** The `run` function, under whatever 0.2 version the component exports it. */
function findRun(exports: Record<string, unknown>): () => unknown {
  for (const [name, value] of Object.entries(exports)) {
    if (name === "wasi:cli/run" || name.startsWith("wasi:cli/run@") || name === "run") {
      const run = (value as Record<string, unknown>)["run"];
      if (typeof run === "function") return run.bind(value) as () => unknown;
    }
  }
  throw new Error("Start the guest: the component exports no wasi:cli/run");
}

function collectMemories(instance: WebAssembly.Instance, memories: Set<WebAssembly.Memory>): void {
  for (const value of Object.values(instance.exports)) {
    if (value instanceof WebAssembly.Memory) memories.add(value);
  }
}

function measure(host: WasiHost, memories: Set<WebAssembly.Memory>, load: RunLoad): CellUsage {
  let memoryBytes = 0;
  for (const memory of memories) memoryBytes += memory.buffer.byteLength;
  return {
    memory_bytes: memoryBytes,
    memory_cap_bytes: load.grants.limits.memory_mb * 1024 * 1024,
    bytes_written: host.bytesWritten(),
    output_bytes: host.outputBytes(),
    stdout_closed: host.stdoutClosed(),
  };
}
