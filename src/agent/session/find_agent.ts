import { CapsuleError } from "../../base/mod.ts";
import { type AgentCapsule, digestBytes, digestCapsule, isAgent, loadCapsule, readText } from "../../manifest/mod.ts";
import type { SpawnPayload } from "../../protocol/control/mod.ts";

/** A skill whose text was read. */
export interface LoadedSkill {
  readonly name: string;
  readonly description: string;
  readonly text: string;
}

/** An agent capsule that is the one that was meant. */
export interface FoundAgent {
  readonly capsule: AgentCapsule;
  readonly skills: readonly LoadedSkill[];
  /** Digests of its tools' components, by name. */
  readonly tools: Readonly<Record<string, string>>;
}

/** The longest skill, bytes. */
const MAX_SKILL_BYTES = 1024 * 1024;

/**
 * The capsule that was meant, with its skills, which are read once and here.
 * @throws `capsule.*`, `manifest.*`, `payload.unsupported` when it is no agent
 */
export async function findAgent({ capsule }: Pick<SpawnPayload, "capsule">): Promise<FoundAgent> {
  const loaded = await loadCapsule(capsule.path);
  if (!isAgent(loaded)) {
    throw new CapsuleError(
      "payload.unsupported",
      `Start a session of ${loaded.name}: it is no agent, wanted role command`,
    );
  }
  const digests = digestCapsule(loaded);
  const changed = (found: string, wanted: string) =>
    new CapsuleError("capsule.changed", `Start a session of ${loaded.name}: found digest ${found}, wanted ${wanted}`);
  if (digests.capsule !== capsule.digest) throw changed(digests.capsule, capsule.digest);
  const skills = loaded.skills.map(({ name, description, path }) => {
    const { text, bytes } = readText(path, { code: "capsule.bad_file", maxBytes: MAX_SKILL_BYTES });
    const digest = digestBytes(bytes);
    if (digest !== digests.skills[name]) throw changed(digest, String(digests.skills[name]));
    return { name, description, text };
  });
  return { capsule: loaded, skills, tools: digests.tools };
}
