import { CapsuleError } from "../../base/mod.ts";
import { type CachedComponent, cacheKey, findCached, findRunName } from "../../component/mod.ts";
import { checkImports, type Grants, refuseImports } from "../../grants/mod.ts";
import { type Capsule, commandOf, digestCapsule, loadCapsule } from "../../manifest/mod.ts";
import type { SpawnPayload } from "../../protocol/control/mod.ts";

/** A command capsule that can be run. */
export interface Command {
  readonly capsule: Capsule;
  readonly component: CachedComponent;
}

/**
 * The capsule that was meant, and its component, which must have been built: a session builds none.
 * @throws `capsule.*`, `component.*`, `grant.import_not_granted`
 */
export async function findCommand(
  { capsule, places }: Pick<SpawnPayload, "capsule" | "places">,
  grants: Grants,
): Promise<Command> {
  const loaded = commandOf(await loadCapsule(capsule.path));
  const digests = digestCapsule(loaded);
  if (digests.capsule !== capsule.digest) {
    throw new CapsuleError(
      "capsule.changed",
      `Start a session of ${loaded.name}: found digest ${digests.capsule}, wanted ${capsule.digest}`,
    );
  }
  const component = findCached(places.cache, cacheKey(digests.component, { memoryMb: grants.limits.memory_mb }));
  if (component === undefined) {
    throw new CapsuleError("component.cache_mismatch", `Start a session of ${loaded.name}: its component is not built`);
  }
  if (findRunName(component.description.exports) === undefined) {
    throw new CapsuleError("component.no_run_export", `Start a session of ${loaded.name}: it is no command`);
  }
  const missing = checkImports(component.description.imports, grants, loaded.manifest, "command");
  if (missing.length > 0) throw refuseImports(missing, loaded.manifestPath);
  return { component, capsule: loaded };
}
