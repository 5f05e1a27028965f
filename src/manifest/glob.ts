import { CapsuleError, printableLine } from "../base/mod.ts";

/**
 * Globs of `boll.jsonc`: segments split by `/`; `*` is any run of characters in a segment, `?` one, `**` as a whole
 * segment any number of segments; `.` alone is the workspace's own folder. Nothing else is special.
 */
type Segment = readonly string[] | "**";

/**
 * Checks a glob's text.
 * @throws {CapsuleError} `workspace.invalid` for an absolute one, one that climbs, or characters other tools give a meaning.
 */
export function checkGlob(glob: string): void {
  const refuse = (why: string) =>
    new CapsuleError("workspace.invalid", `Read glob ${printableLine(JSON.stringify(glob), 200)}: ${why}`);
  if (glob.startsWith("/")) throw refuse("it must be relative to the workspace");
  if (/[[\]{}!\\()\0]/.test(glob)) throw refuse("only *, ? and ** are special, and [ ] { } ( ) ! \\ are refused");
  if (glob.split("/").includes("..")) throw refuse("it may not contain '..'");
}

/** Whether the relative path (segments split by `/`, `` for the workspace itself) is one that the glob names. */
export function matchesGlob(glob: string, path: string): boolean {
  return matches(compile(glob), split(path));
}

/** Whether a folder at the relative path is, contains or lies in any folder that the glob could ever name. */
export function globOverlaps(glob: string, path: string): boolean {
  const segments = compile(glob);
  const parts = split(path);
  for (let index = 0; index < Math.min(segments.length, parts.length); index++) {
    const segment = segments[index]!;
    // What follows `**` can be arranged below or above any path.
    if (segment === "**") return true;
    if (!matchesSegment(segment, parts[index]!)) return false;
  }
  return true;
}

/** Whether the glob could name a folder below the relative path: what a search for its folders must enter. */
export function matchesBelow(glob: string, path: string): boolean {
  const segments = compile(glob);
  const parts = split(path);
  for (let index = 0; index < segments.length; index++) {
    const segment = segments[index]!;
    if (segment === "**" || index === parts.length) return true;
    if (!matchesSegment(segment, parts[index]!)) return false;
  }
  return false;
}

function matches(segments: readonly Segment[], parts: readonly string[]): boolean {
  // Row by row over the glob, so that many `**` cost no more than segments × parts.
  let reachable = parts.map(() => false);
  reachable = [true, ...reachable];
  for (const segment of segments) {
    const next: boolean[] = [];
    for (let at = 0; at <= parts.length; at++) {
      next.push(
        segment === "**"
          ? reachable[at]! || (at > 0 && next[at - 1]!)
          : at > 0 && reachable[at - 1]! && matchesSegment(segment, parts[at - 1]!),
      );
    }
    reachable = next;
  }
  return reachable[parts.length]!;
}

function compile(glob: string): readonly Segment[] {
  return split(glob).map((segment) => segment === "**" ? "**" : [...segment]);
}

/**
 * One pass: at a mismatch the last `*` takes one character more, and none before it need ever be tried again. A regular
 * expression would try them all, which takes exponential time.
 */
function matchesSegment(segment: readonly string[], part: string): boolean {
  const text = [...part];
  let [at, place, star, taken] = [0, 0, -1, 0];
  while (at < text.length) {
    if (segment[place] === "*") [star, taken, place] = [place, at, place + 1];
    else if (place < segment.length && (segment[place] === "?" || segment[place] === text[at])) {
      [at, place] = [at + 1, place + 1];
    } else if (star >= 0) [taken, at, place] = [taken + 1, taken + 1, star + 1];
    else return false;
  }
  return segment.slice(place).every((rest) => rest === "*");
}

function split(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
