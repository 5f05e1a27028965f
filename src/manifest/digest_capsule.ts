import { join } from "@std/path";
import { CapsuleError, printableLine } from "../base/mod.ts";
import { isAgent, MANIFEST_NAME } from "./capsule.ts";
import { digestFile, digestFolder } from "./digest.ts";
import type { AgentCapsule, Capsule, CommandCapsule } from "./manifest.ts";

/** The digests of a capsule, `sha256:<hex>`. */
export type CapsuleDigests = CommandDigests | AgentDigests;

/** Those of a command or a service. */
export interface CommandDigests {
  /** What consent and records name: of the folder, or of a bare component's bytes. */
  readonly capsule: string;
  /** Of the component's bytes, the very ones that went into `capsule`. */
  readonly component: string;
}

/** Those of an agent. */
export interface AgentDigests {
  readonly capsule: string;
  readonly component?: undefined;
  /** By the tool's name, of its component's bytes, the very ones that went into `capsule`. */
  readonly tools: Readonly<Record<string, string>>;
  /** By the skill's name, of its file's bytes. */
  readonly skills: Readonly<Record<string, string>>;
}

/**
 * Reads and hashes each file of a capsule once. A manifest, prompt or playbook that is no longer the one that was read is
 * refused: consent to this digest would be consent to another than the one that is shown and run.
 * @throws {CapsuleError} `capsule.bad_file`
 */
export function digestCapsule(capsule: CommandCapsule): CommandDigests;
export function digestCapsule(capsule: AgentCapsule): AgentDigests;
export function digestCapsule(capsule: Capsule): CapsuleDigests;
export function digestCapsule(capsule: Capsule): CapsuleDigests {
  if (capsule.kind === "bare") {
    const digest = digestFile(capsule.componentPath);
    return { capsule: digest, component: digest };
  }
  const files = new Map<string, string>();
  const digest = digestFolder(capsule.root, (path, digest) => files.set(path, digest));
  const read = { [MANIFEST_NAME]: capsule.manifestDigest, ...(isAgent(capsule) ? capsule.readFiles : {}) };
  for (const [path, expected] of Object.entries(read)) {
    if (files.get(path) === expected) continue;
    const shown = printableLine(join(capsule.root, path));
    throw new CapsuleError("capsule.bad_file", `Digest ${shown}: it changed since it was read; try again`);
  }
  const digestOf = (path: string, what: string): string => {
    const found = files.get(path.slice(capsule.root.length + 1));
    if (path.startsWith(`${capsule.root}/`) && found !== undefined) return found;
    throw new CapsuleError(
      "capsule.bad_file",
      `Digest ${printableLine(capsule.root)}: ${what} is not among the files that count`,
    );
  };
  if (!isAgent(capsule)) return { capsule: digest, component: digestOf(capsule.componentPath, "its component") };
  const { tools, skills } = capsule;
  return {
    capsule: digest,
    tools: Object.fromEntries(tools.map(({ name, componentPath }) => [name, digestOf(componentPath, `tool ${name}`)])),
    skills: Object.fromEntries(skills.map(({ name, path }) => [name, digestOf(path, `skill ${name}`)])),
  };
}
