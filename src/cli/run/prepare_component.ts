import { CapsuleError, printableLine } from "../../base/mod.ts";
import { type CachedComponent, findHandlerName, findRunName, findToolName } from "../../component/mod.ts";
import { checkImports, type ComponentRole, refuseImports } from "../../grants/mod.ts";
import type { CommandCapsule } from "../../manifest/mod.ts";
import { type BuildRequest, ensureComponent } from "../../session/mod.ts";
import type { Resolved } from "./resolve_run.ts";
import type { Context } from "../verb.ts";

/** From when on a build is worth a word, ms. */
const PATIENCE_MS = 1_000;

/** What a verb runs or serves by itself; a tool is called by an agent. */
export type StandaloneRole = Exclude<ComponentRole, "tool">;

/** Options of {@link prepareComponent}. */
export interface PrepareComponentOptions extends Pick<BuildRequest, "interrupt" | "onMismatch"> {
  /** How it is about to be used; default a command. */
  readonly role?: StandaloneRole;
  /** It takes so long that a person may want to see it, or to end it. */
  onWait?(): void;
}

/**
 * The capsule's component of digest `digest`, described and transpiled, with every import granted.
 *
 * @throws `component.*` (also for one that exports nothing to call), `grant.import_not_granted`
 */
export async function prepareComponent(
  resolved: Resolved<CommandCapsule>,
  digest: string,
  hull: boolean,
  context: Context,
  { role = "command", ...watch }: PrepareComponentOptions = {},
): Promise<CachedComponent> {
  const { capsule, grants } = resolved;
  const component = await buildComponent(resolved, digest, hull, context, watch);
  const misfit = refuseRole(component, role, capsule.name);
  if (misfit && (isOther(component.description, role) || isTool(component.description))) throw misfit;
  const missing = checkImports(component.description.imports, grants.grants, capsule.manifest, role);
  if (missing.length > 0) throw refuseImports(missing, capsule.manifestPath);
  if (misfit) throw misfit;
  return component;
}

/** The component as the cache has it, or built into it; a person who waits for that is told. @throws `component.*` */
export async function buildComponent(
  { capsule, home, grants }: Resolved<CommandCapsule>,
  digest: string,
  hull: boolean,
  context: Context,
  { onWait, ...watch }: Omit<PrepareComponentOptions, "role"> = {},
): Promise<CachedComponent> {
  const timer = setTimeout(() => {
    onWait?.();
    if (context.stderr.isTerminal) context.stderr.write("boll: building the component, once…\n");
  }, PATIENCE_MS);
  try {
    return await ensureComponent({
      cacheRoot: home.cache,
      componentPath: capsule.componentPath,
      digest,
      memoryMb: grants.grants.limits.memory_mb,
      hull,
      ...watch,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** What each role must export, and the verb that takes it. */
const ROLES = {
  command: {
    find: findRunName,
    code: "component.no_run_export",
    says: "exports no wasi:cli/run",
    is: "a command",
    does: "Run",
    verb: "run",
  },
  service: {
    find: findHandlerName,
    code: "component.no_handler_export",
    says: "exports no wasi:http/incoming-handler",
    is: "a service",
    does: "Serve",
    verb: "serve-http",
  },
} as const;

/** A component for the other verb is named as that; of one for neither, what it imports is worth more. */
function refuseRole({ description }: CachedComponent, role: StandaloneRole, capsule: string): CapsuleError | undefined {
  const { find, code, says, is } = ROLES[role];
  if (find(description.exports) !== undefined) return undefined;
  const other = ROLES[role === "command" ? "service" : "command"];
  const hint = isOther(description, role)
    ? `it is ${other.is}: use boll ${other.verb}`
    : isTool(description)
    ? "it is a tool: name it in an agent's manifest, and use boll tool"
    : `wanted a component that is ${is}`;
  return new CapsuleError(code, `${ROLES[role].does} ${printableLine(capsule, 80)}: it ${says}; ${hint}`);
}

function isOther({ exports }: CachedComponent["description"], role: StandaloneRole): boolean {
  return ROLES[role === "command" ? "service" : "command"].find(exports) !== undefined;
}

function isTool({ exports }: CachedComponent["description"]): boolean {
  return findToolName(exports) !== undefined;
}
