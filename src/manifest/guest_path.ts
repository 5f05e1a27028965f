import { CapsuleError, printableLine } from "../base/mod.ts";

/** Guest paths that only the runtime mounts: the work folder (initial working directory) and the runtime folder. */
export const RESERVED_GUEST_PATHS: readonly string[] = ["/workdir", "/runtime"];

/** A control (Unicode Cc, whose class costs the start half a millisecond), `:` or `\`. */
const UNSAFE = /[^ -~\u{a0}-\u{10ffff}]|[:\\]/u;

/**
 * A guest path in its one form: absolute, no empty or `.` segment, no trailing slash. `..` is refused, not resolved:
 * nobody writes it by intent.
 *
 * @throws {CapsuleError} `grant.bad_mount` for a path that is relative, is `/`, climbs, or holds `:`, `\` or controls.
 */
export function normalizeGuestPath(path: string): string {
  const refuse = (why: string) =>
    new CapsuleError("grant.bad_mount", `Read guest path ${printableLine(JSON.stringify(path), 200)}: ${why}`);
  if (!path.startsWith("/")) throw refuse("it must be absolute, like /data");
  if (UNSAFE.test(path)) throw refuse("it may not contain ':', '\\' or control characters");
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw refuse("it may not contain '..'");
  if (segments.length === 0) throw refuse("the root itself cannot be a mount, it would cover /workdir");
  return `/${segments.join("/")}`;
}

/** Whether one normalised guest path is, contains or lies in the other. */
export function guestPathsOverlap(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}
