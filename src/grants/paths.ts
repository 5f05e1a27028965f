import { basename, dirname, join } from "@std/path";

/** Whether `path` is `folder` or lies in it. Both absolute and without `.`, `..` or a trailing slash. */
export function isInside(path: string, folder: string): boolean {
  if (path === folder) return true;
  return path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** Whether one path is, contains or lies in the other. */
export function pathsOverlap(one: string, other: string): boolean {
  return isInside(one, other) || isInside(other, one);
}

/** The deepest of two paths when one contains the other, else nothing. */
export function deeperPath(one: string, other: string): string | undefined {
  if (isInside(one, other)) return one;
  return isInside(other, one) ? other : undefined;
}

/**
 * The real path of something that may not exist yet: the real path of its deepest existing ancestor, and the rest. A
 * dangling link counts as what it points to would: not at all, so that its own place is what is named.
 */
export function resolvePlace(path: string): string {
  const missing: string[] = [];
  for (let at = path;; at = dirname(at)) {
    try {
      return join(Deno.realPathSync(at), ...missing);
    } catch {
      if (at === dirname(at)) return join(at, ...missing);
      missing.unshift(basename(at));
    }
  }
}
