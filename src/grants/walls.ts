import type { HullRules, PermissionLists, ProcessLimits } from "../base/mod.ts";
import type { Grants } from "./grants.ts";

/** Where one cell works. Absolute real paths. */
export interface CellPlaces {
  /** This component's cache folder. */
  readonly cache: string;
  /** The cell's private TMPDIR. */
  readonly tmp: string;
  /** The work folder, needed when `fs.work` is granted. */
  readonly work?: string;
}

/** A child of `deno run`: `sources` are the program's own files, `env` the variables it may read. */
export type ChildFlags =
  | {
    readonly kind: "cell";
    readonly grants: Grants;
    readonly places: CellPlaces;
    readonly sources: readonly string[];
    readonly env: readonly string[];
  }
  | {
    readonly kind: "build";
    readonly component: string;
    readonly staging: string;
    readonly tmp: string;
    readonly sources: readonly string[];
    readonly env: readonly string[];
  };
/** STUB */
export function toPermissions(grants: Grants, places: CellPlaces): PermissionLists {
  throw new Error(`${grants}${places}`);
}
/** STUB */
export function toFlags(child: ChildFlags): string[] {
  throw new Error(`${child}`);
}
/** STUB */
export function toProcess(grants: Grants): ProcessLimits {
  throw new Error(`${grants}`);
}
/** STUB */
export function toHull(grants: Grants, places: CellPlaces): HullRules {
  throw new Error(`${grants}${places}`);
}
