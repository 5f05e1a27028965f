import { dirname } from "@std/path";
import type { HullRules } from "../base/mod.ts";
import type { Grants } from "../grants/mod.ts";
import { ProcessHull } from "../hull/mod.ts";
import { isCompiled } from "./self_command.ts";

/** The places that this process and its cell need from here on; absolute real paths. */
export interface SupervisorPlaces {
  /** The component's folder in the cache. */
  readonly cache: string;
  /** The session's folder. */
  readonly session: string;
  /** The cell's private folder. */
  readonly tmp: string;
  readonly work?: string;
}

/** Where the loader finds the libraries of a dynamically linked executable. */
const LIBRARY_PLACES = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];

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

/** The ceiling that this process raises on itself before it spawns its cell, which is then under it from its first instruction. */
export function supervisorRules(grants: Grants, places: SupervisorPlaces, tty: boolean): HullRules {
  const hosts = (mode: "ro" | "rw") => grants.fs.mounts.filter((mount) => mount.mode === mode).map(({ host }) => host!);
  const work = places.work === undefined || grants.fs.work === undefined ? [] : [places.work];
  return {
    read: ["/dev/urandom", places.cache, ...hosts("ro"), ...(grants.fs.work === "ro" ? work : [])],
    write: [places.session, dirname(places.tmp), ...hosts("rw"), ...(grants.fs.work === "rw" ? work : [])],
    execute: [Deno.execPath(), ...realPlaces(LIBRARY_PLACES)],
    symlinks: true,
    unixSockets: true,
    tty,
    tcpConnect: [],
    tcpBind: [],
    udp: false,
    seccomp: false,
  };
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
