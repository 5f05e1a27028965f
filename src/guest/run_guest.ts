import { findRun, instantiate, type LoadedComponent, MemoryWatch } from "../component/mod.ts";
import { parseNetEntry } from "../grants/mod.ts";
import type { CellFolders, CellUsage, GuestEnding, RunLoad } from "../protocol/mod.ts";
import type { Delegate } from "../wasi/delegation.ts";
import {
  closedSink,
  closedSource,
  createWasi,
  type Denial,
  inheritedSink,
  inheritedStdin,
  type NetworkAccess,
  type Preopen,
  type ReadAhead,
  type Resolution,
  type SymlinkPlace,
  type WasiHost,
  type WasiOptions,
} from "../wasi/mod.ts";
import { classifyThrown } from "./classify_thrown.ts";
import type { GuestReport } from "./worker_messages.ts";

/** What a guest's thread can ask of the outside. */
export interface GuestPorts {
  onDenied(denial: Denial): void;
  /** Throws the WASI error code as a string. */
  makeSymlink(place: SymlinkPlace): void;
  /** The addresses of a granted name. Never rejects. */
  resolve(name: string): Promise<Resolution>;
  /** Reads stdin ahead on another thread; absent where the guest has none of its own. */
  readonly readAhead?: ReadAhead;
  /** Asks the parent to start a child; absent where a guest never may. */
  readonly delegate?: Delegate;
}

/** The folders a run's guest sees, work folder first. */
export function preopensOf(
  load: Pick<RunLoad, "grants"> & { readonly folders: Pick<CellFolders, "work"> },
): Preopen[] {
  const { work, mounts } = load.grants.fs;
  const own = work !== undefined && load.folders.work !== undefined
    ? [{ guest: "/workdir", host: load.folders.work, mode: work }]
    : [];
  return [...own, ...mounts.map(({ guest, host, mode }) => ({ guest, host: host!, mode }))];
}

/** Links the component against exactly what its grants allow, calls `wasi:cli/run`, and says how it ended. */
export async function runGuest(load: RunLoad, loaded: LoadedComponent, ports: GuestPorts): Promise<GuestReport> {
  const host = createHost(load, ports, {
    ...await openNetworkOf(load, ports),
    ...await linkDelegationOf(load, ports),
  });
  const memory = new MemoryWatch(load.component.memories);
  const ended = await callRun(host, loaded, memory);
  const limit = host.limitReached();
  const ending: GuestEnding = limit === undefined ? ended : { kind: "limit", limit };
  host.close();
  await host.settle();
  return { ending, usage: measure(host, memory) };
}

/** What is linked to some guests only. */
export type Links = Pick<WasiOptions, "network" | "delegation">;

function createHost(load: RunLoad, ports: GuestPorts, links: Links): WasiHost {
  const { grants } = load;
  return createWasi({
    args: load.args,
    env: load.env,
    preopens: preopensOf(load),
    stdin: grants.stdio ? inheritedStdin(Deno.stdin, ports.readAhead) : closedSource(),
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
    ...links,
    onDenied: ports.onDenied,
    makeSymlink: ports.makeSymlink,
  });
}

/** The network's code is loaded only for a guest that has one. */
export async function openNetworkOf(
  load: Pick<RunLoad, "grants" | "network">,
  ports: Pick<GuestPorts, "resolve" | "onDenied">,
): Promise<Pick<Links, "network">> {
  const access = accessOf(load, ports);
  if (access === undefined) return {};
  const { openNetwork } = await import("../wasi/network.ts");
  return { network: openNetwork(access, ports.onDenied) };
}

/** So is that of delegations. */
async function linkDelegationOf({ grants }: RunLoad, { delegate }: GuestPorts): Promise<Links> {
  if (grants.spawn.length === 0 || delegate === undefined) return {};
  const { delegationImports } = await import("../wasi/delegation.ts");
  return { delegation: delegationImports(delegate) };
}

/** A guest's way to the network; undefined where its grants name no place of it. */
export function accessOf(
  { grants, network }: Pick<RunLoad, "grants" | "network">,
  ports: Pick<GuestPorts, "resolve">,
): NetworkAccess | undefined {
  if (network === undefined) return undefined;
  return {
    entries: grants.net.map(parseNetEntry),
    gate: { port: network.gate_port, credential: network.credential },
    caCerts: network.ca_certs,
    udpPeers: network.udp_peers,
    resolve: (name) => ports.resolve(name),
  };
}

async function callRun(
  host: WasiHost,
  loaded: LoadedComponent,
  memory: MemoryWatch,
): Promise<GuestEnding> {
  try {
    const exports = await instantiate(loaded, host.imports, {
      onInstance: (instance, module) => memory.observe(instance, module),
    });
    const run = findRun(exports);
    if (!run) throw new Error("Start the guest: the component exports no wasi:cli/run");
    await run();
    return { kind: "exit", code: 0 };
  } catch (thrown) {
    return classifyThrown(thrown);
  }
}

function measure(host: WasiHost, memory: MemoryWatch): CellUsage {
  return {
    memory_percent: Math.floor(100 * memory.fullness()),
    bytes_written: host.bytesWritten(),
    output_bytes: host.outputBytes(),
    stdout_closed: host.stdoutClosed(),
  };
}
