/** The name of every lock. It lies beside a `boll.jsonc`. */
export const LOCK_NAME = "boll.lock";

/** One capsule as it was when it was locked. */
export interface LockEntry {
  readonly version: string;
  /** `sha256:<hex>` of its folder. */
  readonly digest: string;
  /** Its folder, relative to the lock's; segments split by `/`. */
  readonly path: string;
}

/** One `boll.lock`, read and checked. */
export interface Lock {
  /** The file's path, its folder real. */
  readonly path: string;
  /** The real path of its folder. */
  readonly root: string;
  readonly entries: ReadonlyMap<string, LockEntry>;
}

/** The one text of these entries: sorted by name, two spaces, a final newline. */
export function formatLock(entries: ReadonlyMap<string, LockEntry>): string {
  const names = [...entries.keys()].sort();
  const capsules = Object.fromEntries(names.map((name) => {
    const { version, digest, path } = entries.get(name)!;
    return [name, { version, digest, path }];
  }));
  return `${JSON.stringify({ version: 1, capsules }, null, 2)}\n`;
}
