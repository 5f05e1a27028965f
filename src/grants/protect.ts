import { basename, dirname, join, relative } from "@std/path";
import { CapsuleError, printableLine } from "../base/mod.ts";
import { type Capsule, globOverlaps, type TrustedWorkspace, type Workspace } from "../manifest/mod.ts";
import type { MountMode } from "./grants.ts";
import { isInside, pathsOverlap, resolvePlace } from "./paths.ts";

/** boll's own places, which no mount may reach. Paths need not exist or be real; they are resolved here. */
export interface ProtectedPlaces {
  /** `$BOLL_HOME`. */
  readonly home: string;
  /** `Deno.execPath()`. */
  readonly executable: string;
  /** `$XDG_RUNTIME_DIR/boll` or its fallback. */
  readonly runtime?: string;
}

/** What may not be reached, and how: `both` also not for reading. */
interface Guarded {
  readonly path: string;
  readonly label: string;
  readonly against: "rw" | "both";
}

/** Everything out of reach of one run. */
export interface Protection {
  readonly guarded: readonly Guarded[];
  readonly globs: readonly { readonly root: string; readonly glob: string }[];
}

/** Names of files that steer boll, wherever they lie. */
const OWN_NAMES: ReadonlySet<string> = new Set(["capsule.jsonc", "boll.jsonc", "boll.lock", ".boll"]);

/**
 * How far below a writable folder strangers' manifests are looked for; known ones are always found. A courtesy, not a
 * wall: a stranger's capsule runs by consent to its digest, and what a guest changed has another.
 */
const SEARCH_DEPTH = 3;
const SEARCH_ENTRIES = 2_000;

/** Gathers what no mount of this run may reach. */
export function gatherProtection(input: {
  readonly capsule: Capsule;
  readonly workspaces: readonly Workspace[];
  readonly trusted: readonly TrustedWorkspace[];
  readonly places: ProtectedPlaces;
}): Protection {
  const { capsule, workspaces, trusted, places } = input;
  const files = new Set([...workspaces, ...trusted].map(({ path }) => path));
  const guard = (path: string, label: string, against: Guarded["against"]) =>
    namesOf(path).map((name): Guarded => ({ path: name, label, against }));
  return {
    guarded: [
      ...guard(places.home, "boll's home", "both"),
      ...(places.runtime === undefined ? [] : guard(places.runtime, "boll's runtime folder", "both")),
      ...guard(places.executable, "boll's executable", "rw"),
      ...(capsule.manifestPath === undefined ? [] : guard(capsule.manifestPath, "the manifest", "rw")),
      ...workspaces.flatMap(({ ca }) => ca === undefined ? [] : guard(ca, "a workspace's certificates", "rw")),
      ...[...files].flatMap((file) =>
        [file, join(dirname(file), "boll.lock"), join(dirname(file), ".boll")].flatMap((path) =>
          guard(path, "a workspace's own file", "rw")
        )
      ),
    ],
    globs: trusted.flatMap(({ path, capsules }) => capsules.map((glob) => ({ root: dirname(path), glob }))),
  };
}

/** Where a place is, and where its own name stands when that is a link: whoever may replace the link moves the place. */
function namesOf(path: string): readonly string[] {
  return [...new Set([resolvePlace(path), join(resolvePlace(dirname(path)), basename(path))])];
}

/**
 * Refuses a folder (a real path) that reaches what is protected; `asked` names it in the message.
 * @throws {CapsuleError} `grant.protected_path`
 */
export function checkReach(
  place: { readonly host: string; readonly mode: MountMode; readonly asked: string },
  protection: Protection,
): void {
  const refuse = (label: string, path: string) =>
    new CapsuleError(
      "grant.protected_path",
      `Grant ${printableLine(place.asked)}: it reaches ${label} (${printableLine(path)}), which no capsule may ` +
        `${place.mode === "rw" ? "write" : "read"}; choose another folder`,
    );
  for (const { path, label, against } of protection.guarded) {
    if (place.mode !== "rw" && against === "rw") continue;
    if (pathsOverlap(place.host, path)) throw refuse(label, path);
  }
  if (place.mode !== "rw") return;
  for (const { root, glob } of protection.globs) {
    if (reachesGlob(place.host, root, glob)) throw refuse("your own capsules", join(root, glob));
  }
  if (place.host.split("/").includes(".boll")) throw refuse("boll's own folder", place.host);
  const found = findOwnFile(place.host);
  if (found !== undefined) throw refuse("a file that steers boll", found);
}

function reachesGlob(host: string, root: string, glob: string): boolean {
  if (isInside(root, host)) return true;
  return isInside(host, root) && globOverlaps(glob, relative(root, host));
}

/** The first file below a folder that steers boll, breadth first within bounds; links are not followed. */
function findOwnFile(folder: string): string | undefined {
  let level = [folder];
  let entries = 0;
  for (let depth = 0; depth <= SEARCH_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const path of level) {
      for (const entry of listFolder(path)) {
        if (OWN_NAMES.has(entry.name)) return join(path, entry.name);
        if (++entries > SEARCH_ENTRIES) return undefined;
        if (entry.isDirectory) next.push(join(path, entry.name));
      }
    }
    level = next;
  }
  return undefined;
}

function listFolder(path: string): Iterable<Deno.DirEntry> {
  try {
    return [...Deno.readDirSync(path)];
  } catch {
    // What this user cannot list, its guest cannot write either.
    return [];
  }
}
