import { checkImports, refuseImports } from "../grants/mod.ts";
import type { CachedComponent } from "../component/mod.ts";
import { type BuildRequest, ensureComponent } from "../session/mod.ts";
import type { Resolved } from "./resolve_run.ts";
import type { Context } from "./verb.ts";

/** From when on a build is worth a word, ms. */
const PATIENCE_MS = 1_000;

/**
 * The capsule's component of digest `digest`, described and transpiled, with every import granted.
 *
 * @throws `component.*`, `grant.import_not_granted`
 */
export async function prepareComponent(
  resolved: Resolved,
  digest: string,
  hull: boolean,
  context: Context,
  watch: Pick<BuildRequest, "interrupt" | "onMismatch"> = {},
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
    const missing = checkImports(component.description.imports, grants.grants, capsule.manifest);
    if (missing.length > 0) throw refuseImports(missing, capsule.manifestPath);
    return component;
  } finally {
    clearTimeout(timer);
  }
}
