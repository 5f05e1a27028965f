import { intersectNet } from "./net_entry.ts";
import { deeperPath } from "./paths.ts";
import type { Grants, Limits, MountGrant, MountMode } from "./grants.ts";

/** One thing of `declared` that the ceiling does not allow: its grant as a key (`env:LANG`), and a sentence. */
export interface Dropped {
  readonly grant: string;
  readonly text: string;
}

/** What {@link narrow} gives: the intersection, and what of `declared` is not in it. */
export interface Narrowed {
  readonly grants: Grants;
  readonly dropped: readonly Dropped[];
}

/**
 * The intersection of two grant sets on every axis. Mounts meet when they have the same guest path and one host contains
 * the other: the deeper host and the weaker mode remain; an unbound mount takes the other's host, so bind before
 * narrowing. Limits: the smaller. Containment: the stronger floor. The result is inside both; the operation is
 * idempotent, commutative and associative (up to the order of lists, which is the sorted one).
 */
export function narrow(declared: Grants, ceiling: Grants): Narrowed {
  const work = weaker(declared.fs.work, ceiling.fs.work);
  const mounts = declared.fs.mounts.flatMap((mount) => meet(mount, ceiling.fs.mounts) ?? []).sort(byGuest);
  const env = [...new Set(declared.env)].filter((name) => ceiling.env.includes(name)).sort();
  const net = intersectNet(declared.net, ceiling.net);
  const spawn = [...new Set(declared.spawn)].filter((name) => ceiling.spawn.includes(name)).sort();
  const floors = [declared.containment, ceiling.containment];
  const containment = floors.includes("scoped") ? "scoped" : floors.includes("advisory") ? "advisory" : undefined;
  const grants: Grants = {
    fs: { ...(work === undefined ? {} : { work }), mounts },
    env,
    net,
    spawn,
    stdio: declared.stdio && ceiling.stdio,
    clocks: declared.clocks && ceiling.clocks,
    random: declared.random && ceiling.random,
    limits: smaller(declared.limits, ceiling.limits),
    ...(containment === undefined ? {} : { containment }),
  };
  return { grants, dropped: compare(declared, grants) };
}

function weaker(one: MountMode | undefined, other: MountMode | undefined): MountMode | undefined {
  if (one === undefined || other === undefined) return undefined;
  return one === "rw" && other === "rw" ? "rw" : "ro";
}

function meet(mount: MountGrant, ceiling: readonly MountGrant[]): MountGrant | undefined {
  const other = ceiling.find(({ guest }) => guest === mount.guest);
  if (other === undefined) return undefined;
  const mode = mount.mode === "rw" && other.mode === "rw" ? "rw" : "ro";
  if (mount.host === undefined || other.host === undefined) {
    const host = mount.host ?? other.host;
    return { guest: mount.guest, mode, ...(host === undefined ? {} : { host }) };
  }
  const host = deeperPath(mount.host, other.host);
  return host === undefined ? undefined : { guest: mount.guest, mode, host };
}

const LIMIT_NAMES = [
  "memory_mb",
  "deadline_ms",
  "cpu_seconds",
  "output_bytes",
  "open_files",
  "file_bytes",
  "work_bytes",
] as const satisfies readonly (keyof Limits)[];

function smaller(one: Limits, other: Limits): Limits {
  const least = (name: keyof Limits) => Math.min(one[name] ?? Infinity, other[name] ?? Infinity);
  const optional = (["cpu_seconds", "output_bytes"] as const).filter((name) => least(name) !== Infinity);
  return {
    memory_mb: least("memory_mb"),
    deadline_ms: least("deadline_ms"),
    ...Object.fromEntries(optional.map((name) => [name, least(name)])),
    open_files: least("open_files"),
    file_bytes: least("file_bytes"),
    work_bytes: least("work_bytes"),
  };
}

/** What `from` has and `to`, which lies inside it, has not. */
function compare(from: Grants, to: Grants): Dropped[] {
  const dropped: Dropped[] = [];
  const drop = (grant: string, text: string) => dropped.push({ grant, text });
  if (from.fs.work !== to.fs.work) drop("fs.work", `the work folder (${from.fs.work} to ${to.fs.work ?? "none"})`);
  for (const mount of from.fs.mounts) {
    const left = to.fs.mounts.find(({ guest }) => guest === mount.guest);
    const key = `fs.mounts:${mount.guest}`;
    if (left === undefined) drop(key, `the mount ${mount.guest}`);
    else if (left.mode !== mount.mode) drop(key, `writing to the mount ${mount.guest}`);
    else if (mount.host !== undefined && left.host !== mount.host) {
      drop(key, `part of the mount ${mount.guest}: ${mount.host} to ${left.host}`);
    }
  }
  for (const name of from.env) if (!to.env.includes(name)) drop(`env:${name}`, `the variable ${name}`);
  for (const entry of from.net) {
    if (!to.net.includes(entry)) drop(`net:${entry}`, `the network entry ${entry}${describeLeft(entry, to.net)}`);
  }
  for (const name of from.spawn) if (!to.spawn.includes(name)) drop(`spawn:${name}`, `delegating to ${name}`);
  for (const name of ["stdio", "clocks", "random"] as const) if (from[name] !== to[name]) drop(name, name);
  for (const name of LIMIT_NAMES) {
    if (from.limits[name] !== to.limits[name]) {
      drop(`limits.${name}`, `${name} above ${to.limits[name]} (asked: ${from.limits[name] ?? "no limit"})`);
    }
  }
  return dropped;
}

function describeLeft(entry: string, net: readonly string[]): string {
  const left = intersectNet([entry], net);
  return left.length === 0 ? "" : ` (only ${left.join(", ")} of it)`;
}

function byGuest(one: MountGrant, other: MountGrant): number {
  return one.guest < other.guest ? -1 : one.guest > other.guest ? 1 : 0;
}
