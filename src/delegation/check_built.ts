import { checkImports, type Grants, refuseImports, toolGrants } from "../grants/mod.ts";
import { type Capsule, isAgent } from "../manifest/mod.ts";
import type { BuiltCapsule } from "./spawnable.ts";

/**
 * Whether all that a capsule would run imports only what it would be granted.
 * @throws {CapsuleError} `grant.import_not_granted`
 */
export function checkBuilt(capsule: Capsule, built: BuiltCapsule, grants: Grants): void {
  const { manifest } = capsule;
  const missing = built.tools === undefined
    ? checkImports(built.component.description.imports, grants, manifest)
    : (isAgent(capsule) ? capsule.tools : []).flatMap(({ name, grants: declared }) =>
      checkImports(built.tools[name]?.description.imports ?? [], toolGrants(declared, grants).grants, manifest, "tool")
    );
  if (missing.length > 0) throw refuseImports(missing);
}
