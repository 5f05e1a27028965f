/** Whether the session at `path` is the one at `root`, or below it. */
export function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}.`);
}

/** The order of places in a tree: parents before their children, those in turn. */
export function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    if (left[i] !== right[i]) return left[i]! - right[i]!;
  }
  return left.length - right.length;
}
