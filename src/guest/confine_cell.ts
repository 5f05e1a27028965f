import { type CellPlaces, type GuestThread, guestThread, toHull, toProcess } from "../grants/mod.ts";
import type { ProcessHull } from "../hull/mod.ts";
import type { CellWalls, RunLoad, ServeLoad, ToolsLoad } from "../protocol/mod.ts";
import type { Resolution } from "../wasi/mod.ts";
import { preopensOf } from "./run_guest.ts";

/** A first frame that names a guest. */
export type GuestLoad = RunLoad | ServeLoad | ToolsLoad;

/** Options of {@link confineCell}. */
export interface ConfineCellOptions {
  readonly thread: GuestThread;
  /** Descriptors 0-2 hold a terminal that the guest may use. */
  readonly tty: boolean;
  /** How many instances share the process's memory; default 1. */
  readonly instances?: number;
}

const CATEGORIES = ["read", "write", "net", "env", "run", "ffi", "sys", "import"] as const;

/** The engine seeds each of its isolates from here. */
const RANDOM_SOURCES = ["/dev/urandom"];

/** The guest's thread. Without a hull it has its own: the main one must stay free to see the parent go. */
export function threadOf(load: GuestLoad, hull: ProcessHull | undefined): GuestThread {
  return hull && load.kernel.landlock ? guestThread(load.grants) : "own";
}

/** The places of a cell, for the walls. */
export function placesOf(load: GuestLoad): CellPlaces {
  const { network } = load;
  const folders = load.kind === "tools"
    ? { ...load.folders, cache: load.tools.map(({ folder }) => folder) }
    : load.folders;
  if (network === undefined) return folders;
  return { ...folders, gatePort: network.gate_port, udpPeers: network.udp_peers };
}

/** Walls 3 and 4 on this process, as strong as this host has them; whether that is enough the parent decides. */
export function confineCell(
  load: GuestLoad,
  hull: ProcessHull | undefined,
  { thread, tty, instances = 1 }: ConfineCellOptions,
): Omit<CellWalls, "worker"> {
  if (!hull) return { landlock: false, seccomp: false, abi: 0 };
  hull.limit(toProcess(load.grants, thread, instances));
  const rules = toHull(load.grants, placesOf(load));
  const report = hull.confine({
    ...rules,
    read: [...rules.read, ...RANDOM_SOURCES],
    tty,
    seccomp: load.kernel.seccomp,
  });
  hull.close();
  return { landlock: report.landlock === "on", seccomp: report.seccomp === "on", abi: report.abi };
}

/**
 * Wall 2 on this thread, for good: `--no-prompt` makes a revoked permission unrecoverable. Making a link needs unscoped
 * read and write, so these two stay where something may be written; the walk and wall 4 bind what is left.
 */
export function revokeUnneeded(load: GuestLoad): void {
  const mayLink = preopensOf(load).some(({ mode }) => mode === "rw");
  for (const name of CATEGORIES) {
    if (mayLink && (name === "read" || name === "write")) continue;
    Deno.permissions.revokeSync({ name });
  }
}

/** A guest in the main thread has no place where it may make links. */
export function refuseSymlink(): never {
  throw "not-permitted";
}

/** A guest without a network has nothing that asks. */
export function refuseName(): Promise<Resolution> {
  return Promise.resolve({ ok: false, error: "denied" });
}
