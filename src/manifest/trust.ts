import { join, relative } from "@std/path";
import { CapsuleError, printableLine, writeFileWhole } from "../base/mod.ts";
import { matchesGlob } from "./glob.ts";
import type { Capsule, Workspace } from "./manifest.ts";
import { readText } from "./regular_file.ts";

/** A workspace the operator trusts, as `trust.json` keeps it. */
export interface TrustedWorkspace {
  readonly path: string;
  readonly digest: string;
  readonly capsules: readonly string[];
}

/** The operator's stored word: `$BOLL_HOME/trust.json` (0600), read anew for each question, written whole. */
export interface Trust {
  /** Whether the capsule matches a glob of one of these workspaces, and that one's path and digest are trusted. */
  isOwn(capsule: Capsule, workspaces: Workspace | readonly Workspace[] | undefined): boolean;
  /** Whether this `boll.jsonc` is trusted, by path and digest: only then are its `proxy` and `ca` the operator's word. */
  isTrusted(workspace: Workspace): boolean;
  /** Whether a foreign capsule of exactly this digest was accepted. */
  isAccepted(digest: string): boolean;
  /** Stores consent to a foreign capsule. */
  accept(digest: string): void;
  /** Stores trust in a `boll.jsonc` as it is now. */
  trustWorkspace(workspace: Workspace): void;
  /** Every trusted workspace: what the grants room protects. */
  trustedWorkspaces(): readonly TrustedWorkspace[];
}

interface TrustFile {
  readonly version: 1;
  readonly workspaces: readonly TrustedWorkspace[];
  readonly capsules: readonly string[];
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Opens the trust kept in a home folder; the file is made at the first word given.
 * Every method throws {CapsuleError} `trust.unreadable` for a file that is damaged or that others may write.
 */
export function openTrust(home: string): Trust {
  const path = join(home, "trust.json");
  const update = (change: (old: TrustFile) => TrustFile) => {
    // Two consents at once must both be kept: what is read stays as it is until it is written.
    using lock = Deno.openSync(`${path}.lock`, { write: true, create: true, mode: 0o600 });
    lock.lockSync(true);
    writeFileWhole(path, `${JSON.stringify(change(readTrust(path)), null, 2)}\n`, { mode: 0o600 });
  };
  return {
    isOwn: (capsule, workspaces) => isOwn(capsule, toArray(workspaces), () => readTrust(path).workspaces),
    isTrusted: (workspace) => isTrusted(workspace, readTrust(path).workspaces),
    isAccepted: (digest) => readTrust(path).capsules.includes(checkDigest(digest)),
    accept: (digest) =>
      update((old) => ({ ...old, capsules: [...new Set([...old.capsules, checkDigest(digest)])].sort() })),
    trustWorkspace: (workspace) =>
      update((old) => ({
        ...old,
        workspaces: [
          ...old.workspaces.filter((one) => one.path !== workspace.path),
          { path: workspace.path, digest: checkDigest(workspace.digest), capsules: workspace.capsules },
        ],
      })),
    trustedWorkspaces: () => readTrust(path).workspaces,
  };
}

function isOwn(
  capsule: Capsule,
  workspaces: readonly Workspace[],
  readTrusted: () => readonly TrustedWorkspace[],
): boolean {
  // A bare component has no manifest whose word could count.
  if (capsule.kind === "bare" || workspaces.length === 0) return false;
  const trusted = readTrusted();
  return workspaces.some((workspace) => {
    const path = relative(workspace.root, capsule.root);
    const isBelow = path !== ".." && !path.startsWith("../");
    return isTrusted(workspace, trusted) && isBelow && workspace.capsules.some((glob) => matchesGlob(glob, path));
  });
}

function isTrusted(workspace: Workspace, trusted: readonly TrustedWorkspace[]): boolean {
  return trusted.some(({ path, digest }) => path === workspace.path && digest === workspace.digest);
}

function readTrust(path: string): TrustFile {
  const refuse = (why: string) =>
    new CapsuleError(
      "trust.unreadable",
      `Read ${printableLine(path)}: ${why}; correct it, or remove it and give your consent again`,
    );
  let info: Deno.FileInfo;
  try {
    info = Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { version: 1, workspaces: [], capsules: [] };
    throw refuse("it cannot be read");
  }
  if (info.uid !== null && info.uid !== Deno.uid()) throw refuse("it belongs to someone else");
  if (info.mode !== null && (info.mode & 0o022) !== 0) throw refuse("others may write it, wanted mode 0600");
  const { text } = readText(path, { code: "trust.unreadable", maxBytes: MAX_BYTES });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse("it is no JSON");
  }
  if (isRecord(value) && typeof value["version"] === "number" && value["version"] > 1) {
    throw new CapsuleError(
      "trust.unreadable",
      `Read ${printableLine(path)}: found version ${value["version"]}, wanted 1: a newer boll wrote it; ` +
        "use that one, or set BOLL_HOME to another folder",
    );
  }
  if (!isTrustFile(value)) throw refuse("found other fields than this version of boll writes");
  return value;
}

function isTrustFile(value: unknown): value is TrustFile {
  if (!isRecord(value) || value["version"] !== 1) return false;
  const { workspaces, capsules } = value;
  return Array.isArray(capsules) && capsules.every(isDigest) &&
    Array.isArray(workspaces) &&
    workspaces.every((one: unknown) =>
      isRecord(one) && typeof one["path"] === "string" && isDigest(one["digest"]) &&
      Array.isArray(one["capsules"]) && one["capsules"].every((glob: unknown) => typeof glob === "string")
    );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDigest(value: unknown): value is string {
  return typeof value === "string" && DIGEST.test(value);
}

function checkDigest(digest: string): string {
  if (!isDigest(digest)) {
    throw new TypeError(`A digest is sha256: and 64 hex digits, found ${printableLine(digest, 80)}`);
  }
  return digest;
}

function toArray(workspaces: Workspace | readonly Workspace[] | undefined): readonly Workspace[] {
  if (workspaces === undefined) return [];
  return "root" in workspaces ? [workspaces] : workspaces;
}
