import {
  type HostImports,
  type InstanceTurns,
  instantiate,
  type LoadedComponent,
  MemoryWatch,
} from "../component/mod.ts";
import type { CallError, CellMemory, FromCell, ServeLoad } from "../protocol/mod.ts";
import { closedSink, closedSource, createWasi, type WasiHost, type WasiOptions } from "../wasi/mod.ts";
import { classifyThrown } from "./classify_thrown.ts";
import { LogLines } from "./log_lines.ts";
import { type GuestPorts, preopensOf } from "./run_guest.ts";

/** From this share of its cap on, percent, an instance that failed is said to have run out of memory. */
const FULL_MEMORY_PERCENT = 90;

/** What a cell that serves tells the parent. */
export type Emit = (message: FromCell) => void;

/** Ties an instance to its call. */
export interface InstanceSlot {
  callId: number;
  isStopped: boolean;
  readonly logs: LogLines[];
}

/** An instance for one call. */
export interface ServedInstance {
  readonly host: WasiHost;
  readonly memory: MemoryWatch;
  readonly exports: Readonly<Record<string, unknown>>;
  /** The call that it serves, once it has one: where its output goes, and whether it is given up. */
  readonly slot: InstanceSlot;
}

/** What an instance is made of. */
export interface ServedInstanceOptions {
  readonly load: Pick<ServeLoad, "grants" | "env"> & Parameters<typeof preopensOf>[0];
  readonly loaded: LoadedComponent;
  readonly memories: readonly CellMemory[];
  readonly args: readonly string[];
  readonly slot: InstanceSlot;
  readonly ports: Pick<GuestPorts, "onDenied" | "makeSymlink">;
  readonly links: Pick<WasiOptions, "network" | "delegation">;
  readonly emit: Emit;
  /** Absent: nobody asks which instance has the thread. */
  readonly turns?: InstanceTurns;
}

/** The slot of an instance for that call; 0: it has none yet. */
export function freshSlot(callId = 0): InstanceSlot {
  return { callId, isStopped: false, logs: [] };
}

/** Makes an instance with a host of its own. Rejects when the component cannot even start. */
export async function makeServedInstance(options: ServedInstanceOptions): Promise<ServedInstance> {
  const { loaded, memories, slot, turns } = options;
  const host = createServedHost(options);
  const memory = new MemoryWatch(memories);
  const exports = await instantiate(loaded, host.imports as HostImports, {
    onInstance: (instance, module) => memory.observe(instance, module),
    isStopped: () => slot.isStopped,
    ...(turns === undefined ? {} : { turns }),
  });
  return { host, memory, exports, slot };
}

function createServedHost({ load, args, slot, ports, links, emit }: ServedInstanceOptions): WasiHost {
  const { grants, env } = load;
  const { limits } = grants;
  const openLog = (stream: "stdout" | "stderr") => {
    const log = new LogLines((text) => emit({ type: "log", id: slot.callId, stream, text }));
    slot.logs.push(log);
    return log;
  };
  return createWasi({
    args,
    env,
    preopens: preopensOf(load),
    stdin: closedSource(),
    stdout: grants.stdio ? openLog("stdout") : closedSink(),
    stderr: grants.stdio ? openLog("stderr") : closedSink(),
    terminal: { stdin: false, stdout: false, stderr: false },
    ...(grants.fs.work === undefined ? {} : { cwd: "/workdir" }),
    interfaces: { clocks: grants.clocks, random: grants.random },
    limits: {
      openFiles: limits.open_files,
      fileBytes: limits.file_bytes,
      workBytes: limits.work_bytes,
      ...(limits.output_bytes === undefined ? {} : { outputBytes: limits.output_bytes }),
    },
    ...links,
    onDenied: ports.onDenied,
    makeSymlink: ports.makeSymlink,
  });
}

/** Nobody drops what the instance has open, since it does not run again: what it wrote to sockets goes out if it returned. */
export function giveUp({ host, slot }: ServedInstance, hasReturned: boolean): void {
  slot.isStopped = true;
  for (const log of slot.logs) log.flush();
  host.close();
  if (hasReturned) void host.settle();
  else host.cut();
}

/** Why a call failed, from whatever came out of its guest. */
export function describeThrown(thrown: unknown, instance: ServedInstance | undefined): CallError {
  const ending = classifyThrown(thrown);
  if (ending.kind === "limit") return { kind: "limit", detail: ending.limit };
  const isFull = instance !== undefined && 100 * instance.memory.fullness() >= FULL_MEMORY_PERCENT;
  if (isFull) return { kind: "memory", detail: "the guest reached its memory limit" };
  if (ending.kind === "exit") return { kind: "exit", detail: `the guest exited with code ${ending.code}` };
  return { kind: "trap", detail: `${ending.trap}: ${ending.detail}` };
}
