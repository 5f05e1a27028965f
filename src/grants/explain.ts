import type { Containment } from "../base/mod.ts";
import type { Capsule } from "../manifest/mod.ts";
import type { HullCapabilities } from "./containment.ts";
import type { Grants } from "./grants.ts";
import type { MissingImport } from "./imports.ts";
import type { ResolvedGrants } from "./resolve.ts";

/** What {@link explainGrants} needs; nothing is run or read. */
export interface ExplainGrantsInput {
  readonly capsule: Capsule;
  readonly digest: string;
  readonly resolved: ResolvedGrants;
  readonly probe: HullCapabilities;
  /** `Deno.build.standalone`. */
  readonly compiled: boolean;
  readonly own: boolean;
  /** Whether consent to this digest is stored. */
  readonly accepted: boolean;
  /** The component's imports; absent when it was not described. */
  readonly imports?: readonly string[];
}

/** One wall: what it binds for this run and what it does not. */
export interface WallExplanation {
  readonly wall: 1 | 2 | 3 | 4;
  readonly name: "imports" | "permissions" | "process" | "kernel";
  readonly up: boolean;
  readonly binds: readonly string[];
  readonly does_not_bind: readonly string[];
}

/** JSON-safe: what `boll explain --json` prints and the trace records as effective grants. */
export interface Explanation {
  readonly capsule: {
    readonly name: string;
    readonly version?: string;
    readonly kind: "manifest" | "bare";
    readonly path: string;
  };
  readonly digest: string;
  readonly standing: "own" | "foreign" | "bare";
  readonly consent: "not_needed" | "stored" | "missing";
  readonly containment: {
    readonly asked?: Containment;
    readonly achieved: Containment;
    readonly met: boolean;
    readonly reasons: readonly string[];
  };
  readonly grants: Grants;
  readonly walls: readonly WallExplanation[];
  /** Imported and not granted. */
  readonly missing: readonly MissingImport[];
  /** Granted and never imported; absent when the imports are not known. */
  readonly unused?: readonly string[];
  readonly secrets: Readonly<Record<string, readonly string[]>>;
  readonly warnings: readonly string[];
}
/** STUB */
export function explainGrants(input: ExplainGrantsInput): Explanation {
  throw new Error(`${input}`);
}
