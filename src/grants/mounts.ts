import { isAbsolute, join, resolve } from "@std/path";
import { CapsuleError, printableLine, shellWord } from "../base/mod.ts";
import { type Capsule, guestPathsOverlap, RESERVED_GUEST_PATHS } from "../manifest/mod.ts";
import type { MountFlag } from "./flags.ts";
import type { MountGrant, MountMode } from "./grants.ts";
import { isInside } from "./paths.ts";

/** A declared mount that nothing binds, and the flag that would. */
export interface UnboundMount {
  readonly guest: string;
  readonly mode: MountMode;
  /** As a person would type it, with DIR for the folder. */
  readonly flag: string;
}

/**
 * Binds the mounts of a run: a flag's host first, then an own manifest's `host`. What a foreign manifest says of hosts
 * counts for nothing. Hosts come back as real paths; mounts that nothing binds are listed apart.
 * @throws {CapsuleError} `grant.bad_mount`
 */
export function bindMounts(
  capsule: Capsule,
  { own, flags }: { readonly own: boolean; readonly flags: readonly MountFlag[] },
): { readonly bound: readonly MountGrant[]; readonly unbound: readonly UnboundMount[] } {
  const declared = capsule.manifest?.grants.fs?.mounts ?? [];
  const bound: MountGrant[] = [];
  const unbound: UnboundMount[] = [];
  for (const mount of declared) {
    const flag = flags.find(({ guest }) => guest === mount.guest);
    const mode = flag?.mode ?? mount.mode ?? "ro";
    if (flag !== undefined) bound.push({ guest: mount.guest, mode, host: resolveFolder(flag.host, "--mount") });
    else if (own && mount.host !== undefined) {
      const host = isAbsolute(mount.host) ? mount.host : join(capsule.root, mount.host);
      bound.push({ guest: mount.guest, mode, host: resolveFolder(host, "the manifest's mount") });
    } else unbound.push({ guest: mount.guest, mode, flag: `--mount ${shellWord(`DIR:${mount.guest}:${mode}`)}` });
  }
  for (const flag of flags) {
    if (declared.some(({ guest }) => guest === flag.guest)) continue;
    bound.push({ guest: flag.guest, mode: flag.mode ?? "ro", host: resolveFolder(flag.host, "--mount") });
  }
  checkGuestPaths([...flags, ...declared.filter(({ guest }) => !flags.some((flag) => flag.guest === guest))]);
  return { bound, unbound };
}

/** The refusal of mounts that nothing binds: prints the flags to add. */
export function refuseUnbound(capsule: Capsule, unbound: readonly UnboundMount[]): CapsuleError {
  const flags = unbound.map(({ flag }) => flag).join(" ");
  const guests = unbound.map(({ guest }) => guest).join(", ");
  return new CapsuleError(
    "grant.unbound_mount",
    `Run ${printableLine(capsule.name)}: found no folder for ${printableLine(guests)}; add ${
      printableLine(flags, 2000)
    }`,
  );
}

/**
 * A folder of the host as its real path.
 * @throws {CapsuleError} `grant.bad_mount` when it is missing, no folder, or one of the kernel's own.
 */
export function resolveFolder(path: string, what: string): string {
  const refuse = (why: string) =>
    new CapsuleError("grant.bad_mount", `Open ${what} folder ${printableLine(path)}: ${why}`);
  let real: string;
  let isDirectory: boolean;
  try {
    real = Deno.realPathSync(resolve(path));
    isDirectory = Deno.statSync(real).isDirectory;
  } catch (error) {
    throw refuse(error instanceof Deno.errors.NotFound ? "found nothing there" : "it cannot be read");
  }
  if (!isDirectory) throw refuse("found no folder; only folders can be mounted");
  // These hold other processes' memory, environments and devices, not files.
  const isKernels = ["/proc", "/sys", "/dev"].some((place) => isInside(real, place)) && !isInside(real, "/dev/shm");
  if (isKernels) throw refuse("it is the kernel's, not a folder of files");
  return real;
}

function checkGuestPaths(mounts: readonly { readonly guest: string }[]): void {
  mounts.forEach(({ guest }, index) => {
    const others = [...RESERVED_GUEST_PATHS, ...mounts.slice(0, index).map((mount) => mount.guest)];
    const other = others.find((path) => guestPathsOverlap(path, guest));
    if (other === undefined) return;
    const why = RESERVED_GUEST_PATHS.includes(other) ? `${other} is reserved` : `it overlaps the mount ${other}`;
    throw new CapsuleError("grant.bad_mount", `Mount at ${printableLine(guest)}: ${why}; choose another guest path`);
  });
}

/** A read-only mount that can be written through a writable one, if there is one. */
export function findAlias(
  places: readonly MountGrant[],
): { readonly ro: MountGrant; readonly rw: MountGrant } | undefined {
  for (const ro of places.filter(({ mode }) => mode === "ro")) {
    const rw = places.find(({ host, mode }) => mode === "rw" && isInside(ro.host!, host!));
    if (rw !== undefined) return { ro, rw };
  }
  return undefined;
}

/**
 * A read-only mount inside a writable place would be writable through it. The other way round is usual and exact: a
 * writable folder inside a read-only one.
 * @throws {CapsuleError} `grant.bad_mount`
 */
export function checkAliases(places: readonly MountGrant[]): void {
  const alias = findAlias(places);
  if (alias === undefined) return;
  const { ro, rw } = alias;
  throw new CapsuleError(
    "grant.bad_mount",
    `Mount ${printableLine(ro.host!)} read-only at ${printableLine(ro.guest)}: it can be written through ` +
      `${printableLine(rw.guest)} (${printableLine(rw.host!)}); mount it rw, or choose folders apart`,
  );
}
