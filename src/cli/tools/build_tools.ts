import { CapsuleError, printableLine } from "../../base/mod.ts";
import type { CachedComponent } from "../../component/mod.ts";
import { checkImports, type Grants, refuseImports, toolGrants } from "../../grants/mod.ts";
import type { AgentCapsule, AgentDigests } from "../../manifest/mod.ts";
import { type BuildRequest, ensureComponent } from "../../session/mod.ts";
import { type HeldComponent, holdComponent } from "../run/held_component.ts";

/** What {@link buildTools} needs. */
export interface BuildToolsInput extends Pick<BuildRequest, "cacheRoot" | "hull" | "interrupt" | "onMismatch"> {
  readonly capsule: AgentCapsule;
  readonly digests: AgentDigests;
  /** What the capsule has: each tool's memory is within it. */
  readonly limits: Pick<Grants["limits"], "memory_mb">;
}

/** An agent's tools, built and held in the cache. */
export interface BuiltTools extends Disposable {
  /** By name. */
  readonly tools: Readonly<Record<string, CachedComponent>>;
}

/** Every tool of an agent, built for the memory that its guest is given. @throws `component.*` */
export async function buildTools(input: BuildToolsInput): Promise<BuiltTools> {
  const { capsule, digests, limits, ...request } = input;
  const held = new Map<string, HeldComponent>();
  const release = () => held.values().forEach((one) => one[Symbol.dispose]());
  try {
    for (const { name, componentPath, grants } of capsule.tools) {
      // As `toolGrants` has it: the smaller of both.
      const memoryMb = Math.min(grants?.limits?.memory_mb ?? limits.memory_mb, limits.memory_mb);
      const build = { ...request, componentPath, digest: digests.tools[name]!, memoryMb };
      held.set(name, await holdComponent(() => ensureComponent(build)));
    }
  } catch (error) {
    release();
    throw error;
  }
  return {
    tools: Object.fromEntries([...held].map(([name, { component }]) => [name, component])),
    [Symbol.dispose]: release,
  };
}

/**
 * Whether each tool is one, and imports only what it is granted.
 * @throws `component.no_tool_export`, `grant.import_not_granted`
 */
export function checkTools(capsule: AgentCapsule, tools: BuiltTools["tools"], grants: Grants): void {
  const missing = capsule.tools.flatMap(({ name, grants: declared }) => {
    const { imports, exports } = tools[name]!.description;
    if (!exports.some((one) => /^boll:capsule\/tool(@|$)/.test(one))) {
      throw new CapsuleError(
        "component.no_tool_export",
        `Run ${printableLine(capsule.name, 80)}: its tool ${name} exports no boll:capsule/tool`,
      );
    }
    return checkImports(imports, toolGrants(declared, grants).grants, capsule.manifest, "tool").map((one) => ({
      ...one,
      interface: `${one.interface} of the tool ${name}`,
    }));
  });
  if (missing.length > 0) throw refuseImports(missing, capsule.manifestPath);
}
