import { join, relative } from "@std/path";
import { CapsuleError, printableLine, writeFileWhole } from "../base/mod.ts";
import { type Capsule, digestCapsule, loadCapsule, MANIFEST_NAME, type Workspace } from "../manifest/mod.ts";
import { findCapsules } from "./find_capsules.ts";
import { formatLock, type Lock, LOCK_NAME, type LockEntry } from "./lock.ts";
import { readLock } from "./read_lock.ts";

/** What became of one name. */
export interface LockChange {
  readonly kind: "added" | "changed" | "removed";
  readonly name: string;
}

/** What a lock must say now. */
export interface PlannedLock extends Lock {
  readonly text: string;
  /** Against what it says; empty and yet not current when only the text is another. */
  readonly changes: readonly LockChange[];
  /** Whether the file has exactly this text. */
  readonly isCurrent: boolean;
}

/** Options of {@link planLock}. */
export interface PlanLockOptions {
  /** Capsules below the workspace that no glob names; once locked they stay, as long as they are there. */
  readonly add?: readonly string[];
}

/**
 * What the lock of a workspace must say: its own capsules, those that were added, and each as it is now. Every name that
 * one of them may delegate to must be among them, or no delegation to it could ever start.
 *
 * @throws {CapsuleError} `lock.invalid`, `lock.unresolved`, `capsule.*`, `manifest.*`
 */
export async function planLock(workspace: Workspace, { add = [] }: PlanLockOptions = {}): Promise<PlannedLock> {
  const path = join(workspace.root, LOCK_NAME);
  const old = readOld(path);
  const own = findCapsules(workspace.root, workspace.capsules);
  const added = add.map((folder) => pathBelow(workspace.root, folder));
  const kept = [...old.entries.values()].map((entry) => entry.path).filter((one) => isCapsule(workspace.root, one));
  const capsules = await loadAll(workspace.root, new Set([...own, ...added, ...kept]));
  const entries = lockAll(workspace.root, capsules);
  const text = formatLock(entries);
  return {
    path,
    root: workspace.root,
    entries,
    text,
    changes: compareEntries(old.entries, entries),
    isCurrent: old.text === text,
  };
}

/** Writes it whole, for everybody to read. */
export function writeLock({ path, text }: PlannedLock): void {
  writeFileWhole(path, text, { mode: 0o644 });
}

function readOld(path: string): { readonly entries: ReadonlyMap<string, LockEntry>; readonly text?: string } {
  try {
    const { entries } = readLock(path);
    return { entries, text: Deno.readTextFileSync(path) };
  } catch (error) {
    if (error instanceof CapsuleError && error.code === "lock.not_found") return { entries: new Map() };
    throw error;
  }
}

function pathBelow(root: string, folder: string): string {
  const refuse = (why: string) => new CapsuleError("lock.unresolved", `Add ${printableLine(folder)}: ${why}`);
  let path: string;
  try {
    path = relative(root, Deno.realPathSync(folder));
  } catch {
    throw refuse("found nothing there");
  }
  if (path === "" || path === ".." || path.startsWith("../")) throw refuse(`it must lie below ${printableLine(root)}`);
  if (!isCapsule(root, path)) throw refuse(`found no ${MANIFEST_NAME} in it`);
  return path;
}

/** Whether a folder with a manifest is there, reached over no link. */
function isCapsule(root: string, path: string): boolean {
  const folder = join(root, path);
  try {
    return Deno.realPathSync(folder) === folder && Deno.lstatSync(join(folder, MANIFEST_NAME)).isFile;
  } catch {
    return false;
  }
}

/** Every capsule, or everything that is wrong with any. */
async function loadAll(root: string, paths: ReadonlySet<string>): Promise<readonly Capsule[]> {
  const capsules: Capsule[] = [];
  const errors: CapsuleError[] = [];
  for (const path of [...paths].sort()) {
    try {
      capsules.push(await loadCapsule(join(root, path)));
    } catch (error) {
      if (!(error instanceof CapsuleError)) throw error;
      errors.push(error);
    }
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length === 0) return capsules;
  throw refuseAll(
    errors.flatMap(({ message, problems }) => problems.length === 0 ? [message] : problems),
    errors[0]!.code,
  );
}

function lockAll(root: string, capsules: readonly Capsule[]): ReadonlyMap<string, LockEntry> {
  const problems: string[] = [];
  const byName = new Map<string, Capsule>();
  for (const capsule of capsules) {
    // A lock in a capsule's own folder would have to hold its own digest.
    if (capsule.root === root) continue;
    const other = byName.get(capsule.name);
    if (other === undefined) byName.set(capsule.name, capsule);
    else {
      const [one, two] = [other, capsule].map((each) => printableLine(relative(root, each.root)));
      problems.push(`${capsule.name}: found it in ${one} and in ${two}; rename one, or take it out of ${LOCK_NAME}`);
    }
  }
  for (const capsule of capsules) problems.push(...unresolvedOf(capsule, byName));
  if (problems.length > 0) throw refuseAll(problems, "lock.unresolved");
  return new Map([...byName].map(([name, capsule]) => [name, {
    version: capsule.version!,
    digest: digestCapsule(capsule).capsule,
    path: relative(root, capsule.root),
  }]));
}

/** Names that the capsule may delegate to and that nobody has. */
function unresolvedOf({ manifest, manifestPath }: Capsule, byName: ReadonlyMap<string, Capsule>): string[] {
  const names = manifest?.grants.spawn ?? [];
  return names.flatMap((name, index) => {
    if (byName.has(name)) return [];
    const path = `grants.spawn[${index}]`;
    const { line, column } = manifest!.positions.at(path);
    const place = `${printableLine(manifestPath ?? "")}:${line}:${column}`;
    return [
      `${place}: ${path}: found no capsule ${name} that could be locked; name its folder in boll.jsonc, or add it with --add`,
    ];
  });
}

function compareEntries(old: ReadonlyMap<string, LockEntry>, now: ReadonlyMap<string, LockEntry>): LockChange[] {
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names.flatMap((name): LockChange[] => {
    const [before, after] = [old.get(name), now.get(name)];
    if (before === undefined) return [{ kind: "added", name }];
    if (after === undefined) return [{ kind: "removed", name }];
    const isSame = before.version === after.version && before.digest === after.digest && before.path === after.path;
    return isSame ? [] : [{ kind: "changed", name }];
  });
}

function refuseAll(problems: readonly string[], code: CapsuleError["code"]): CapsuleError {
  if (problems.length === 1) return new CapsuleError(code, `Lock ${problems[0]}`, { problems });
  return new CapsuleError(code, `Lock capsules: found ${problems.length} problems`, { problems });
}
