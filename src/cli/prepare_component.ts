import { CapsuleError, printableLine } from "../base/mod.ts";
import { type CachedComponent, findHandlerName, findRunName } from "../component/mod.ts";
import { checkImports, type ComponentRole, refuseImports } from "../grants/mod.ts";
import { type BuildRequest, ensureComponent } from "../session/mod.ts";
import type { Resolved } from "./resolve_run.ts";
import type { Context } from "./verb.ts";

/** From when on a build is worth a word, ms. */
const PATIENCE_MS = 1_000;

/** Options of {@link prepareComponent}. */
export interface PrepareComponentOptions extends Pick<BuildRequest, "interrupt" | "onMismatch"> {
  /** How it is about to be used; default a command. */
  readonly role?: ComponentRole;
}

/**
 * The capsule's component of digest `digest`, described and transpiled, with every import granted.
 *
 * @throws `component.*` (also for one that exports nothing to call), `grant.import_not_granted`
 */
export async function prepareComponent(
  resolved: Resolved,
  digest: string,
  hull: boolean,
  context: Context,
  { role = "command", ...watch }: PrepareComponentOptions = {},
): Promise<CachedComponent> {
  const { capsule, home, grants } = resolved;
  const timer = setTimeout(() => {
    if (context.stderr.isTerminal) context.stderr.write("boll: building the component, once…\n");
  }, PATIENCE_MS);
  try {
    const component = await ensureComponent({
      cacheRoot: home.cache,
      componentPath: capsule.componentPath,
      digest,
      memoryMb: grants.grants.limits.memory_mb,
      hull,
      ...watch,
    });
    checkRole(component, role, capsule.name);
    const missing = checkImports(component.description.imports, grants.grants, capsule.manifest, role);
    if (missing.length > 0) throw refuseImports(missing, capsule.manifestPath);
    return component;
  } finally {
    clearTimeout(timer);
  }
}

function checkRole({ description: { exports } }: CachedComponent, role: ComponentRole, capsule: string): void {
  const [runs, handles] = [findRunName(exports) !== undefined, findHandlerName(exports) !== undefined];
  const name = printableLine(capsule, 80);
  if (role === "command" && !runs) {
    const hint = handles ? `it is a service: use boll serve-http` : "wanted a component that is a command";
    throw new CapsuleError("component.no_run_export", `Run ${name}: it exports no wasi:cli/run; ${hint}`);
  }
  if (role === "service" && !handles) {
    const hint = runs ? "it is a command: use boll run" : "wanted a component that is a service";
    throw new CapsuleError(
      "component.no_handler_export",
      `Serve ${name}: it exports no wasi:http/incoming-handler; ${hint}`,
    );
  }
}
