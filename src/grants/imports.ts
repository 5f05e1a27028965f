import type { CapsuleError } from "../base/mod.ts";
import type { Manifest } from "../manifest/mod.ts";
import type { Grants } from "./grants.ts";

/** One import that is not linked. JSON-safe. */
export interface MissingImport {
  /** As the component names it. */
  readonly interface: string;
  /** The grant that would link it: `clocks`, `random`, `net`, `spawn`; absent when none would. */
  readonly grant?: string;
  /** Line of the manifest that decides, from 1; absent for a bare component. */
  readonly manifestLine?: number;
  /** The flag or manifest entry that would allow it. */
  readonly allow?: string;
  /** Why, in one sentence. */
  readonly reason: string;
}
/** STUB: unversioned names */
export function toImports(grants: Grants): readonly string[] {
  throw new Error(`${grants}`);
}
/** STUB */
export function checkImports(imports: readonly string[], grants: Grants, manifest?: Manifest): MissingImport[] {
  throw new Error(`${imports}${grants}${manifest}`);
}
/** STUB: the `grant.import_not_granted` error for what {@link checkImports} found; `file` is the manifest's path. */
export function refuseImports(missing: readonly MissingImport[], file?: string): CapsuleError {
  throw new Error(`${missing}${file}`);
}
