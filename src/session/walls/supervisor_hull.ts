import { dirname } from "@std/path";
import type { HullRules } from "../../base/mod.ts";
import { gatePorts, type Grants, listenPorts } from "../../grants/mod.ts";
import { ProcessHull } from "../../hull/mod.ts";
import { isCompiled } from "../self_command.ts";

/** What the sessions below this process need, which narrow themselves further: absolute paths. */
export interface CeilingPlaces {
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Ports of their models. */
  readonly ports?: readonly number[];
}

/** The places that this process and its cell need from here on; absolute real paths. */
export interface SupervisorPlaces {
  /** The component's folder in the cache, or those of several. */
  readonly cache: string | readonly string[];
  /** The session's folder. */
  readonly session: string;
  /** The cell's private folder. */
  readonly tmp: string;
  readonly work?: string;
  /** The gate of this process, or its gates, when the network is granted. */
  readonly network?: { readonly gatePort: number | readonly number[]; readonly proxy?: { readonly port: number } };
  /** Absent: nothing is started but the cell. */
  readonly ceiling?: CeilingPlaces;
}

/** Where the loader finds the libraries of a dynamically linked executable. */
const LIBRARY_PLACES = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];

/** What looking up a name reads, where it is there. */
const NAME_PLACES = [
  ...["hosts", "resolv.conf", "nsswitch.conf", "gai.conf", "host.conf"].map((name) => `/etc/${name}`),
  "/run/systemd/resolve",
];

/**
 * The kernel part of this process: open from before the first spawn, so that no descriptor of the caller's reaches a
 * child. Absent where there is no kernel wall to raise: on another system, and under `deno run`, where the descriptors
 * are closed and that is all.
 */
export function openHull(): ProcessHull | undefined {
  if (Deno.build.os !== "linux") return undefined;
  const hull = ProcessHull.open();
  hull.closeDescriptorsOnExec(3);
  if (isCompiled) return hull;
  hull.close();
  return undefined;
}

/**
 * The ceiling that this process raises on itself before it spawns its cell, which is then under it from its first
 * instruction. With a gate it reaches the ports of the entries, and the cell under it the gate; the gate listens before.
 */
export function supervisorRules(grants: Grants, places: SupervisorPlaces, tty: boolean): HullRules {
  const hosts = (mode: "ro" | "rw") => grants.fs.mounts.filter((mount) => mount.mode === mode).map(({ host }) => host!);
  const work = places.work === undefined || grants.fs.work === undefined ? [] : [places.work];
  const rules: HullRules = {
    read: [
      ...realPlaces(["/dev/urandom"]),
      ...[places.cache].flat(),
      ...hosts("ro"),
      ...(grants.fs.work === "ro" ? work : []),
      ...(places.network === undefined ? [] : realPlaces(NAME_PLACES)),
      ...realPlaces(places.ceiling?.read ?? []),
    ],
    write: [
      places.session,
      dirname(places.tmp),
      ...hosts("rw"),
      ...(grants.fs.work === "rw" ? work : []),
      ...realPlaces(places.ceiling?.write ?? []),
    ],
    execute: [Deno.execPath(), ...realPlaces(LIBRARY_PLACES)],
    symlinks: true,
    unixSockets: true,
    tty,
    tcpConnect: connectPorts(grants, places.network),
    tcpBind: listenPorts(grants),
    // Each session below has a gate of its own, at a port that nobody knows yet.
    ...(places.ceiling === undefined || places.network === undefined ? {} : { anyTcp: true }),
    udp: false, // seccomp's, which this process does not raise
    seccomp: false,
  };
  return withModelPorts(rules, places.ceiling?.ports ?? []);
}

/** What a process needs that is no session itself and starts some; absolute real paths. */
export interface TreePlaces extends CeilingPlaces {
  /** The folder of cached components. */
  readonly cache: string;
  /** The folder of sessions. */
  readonly sessions: string;
  /** The folder in which private ones are made. */
  readonly runtime: string;
  readonly work?: string;
  /** The port of its session's door; 0 is any that the system chooses. Absent: it has none. */
  readonly doorPort?: number;
}

/** The ceiling of a supervisor whose root session has these grants: what any session of its tree may need. */
export function treeRules(grants: Grants, places: TreePlaces): HullRules {
  const { cache, sessions, runtime, work, read, write, ports = [], doorPort } = places;
  const rules = supervisorRules(grants, {
    cache,
    session: sessions,
    tmp: `${runtime}/cell`,
    ...(work === undefined ? {} : { work }),
    // Its own sessions open the gates: which ports they get nobody knows yet.
    ...(grants.net.length === 0 ? {} : { network: { gatePort: 0 } }),
    ceiling: { read, write, ports },
  }, false);
  return doorPort === undefined ? rules : { ...rules, tcpBind: [...rules.tcpBind, doorPort] };
}

/** The same for a process whose model, or that of a session below it, answers at these ports. */
export function withModelPorts(rules: HullRules, ports: readonly number[]): HullRules {
  if (ports.length === 0) return rules;
  return {
    ...rules,
    read: [...new Set([...rules.read, ...realPlaces(NAME_PLACES)])],
    tcpConnect: [...new Set([...rules.tcpConnect, ...ports])],
  };
}

function connectPorts(grants: Grants, network: SupervisorPlaces["network"]): number[] {
  return network === undefined ? [] : [...new Set([...[network.gatePort].flat(), ...gatePorts(grants, network.proxy)])];
}

/** The real paths of those that are there: `/lib` is a link to `usr/lib` on many systems, and the wall follows none. */
function realPlaces(paths: readonly string[]): string[] {
  const real = paths.flatMap((path) => {
    try {
      return [Deno.realPathSync(path)];
    } catch {
      return [];
    }
  });
  return [...new Set(real)];
}
