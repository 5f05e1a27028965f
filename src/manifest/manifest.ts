import type { Proxy } from "./net_entry.ts";
import type { DeclaredGrants } from "./schema.ts";

/** What the trace keeps of a run beside its events. */
export type Capture = "none" | "meta" | "content";

/** Where the values of a file stand: dotted path (`grants.fs.mounts[0].guest`) to line and column, both from 1. */
export interface Positions {
  /** The line of the value's key, or of its nearest ancestor that is written; 1 when nothing is. */
  lineOf(path: string): number;
  /** Line and column, found as {@link Positions.lineOf} does. */
  at(path: string): { readonly line: number; readonly column: number };
  /** Whether exactly this path is written in the file. */
  has(path: string): boolean;
}

/** A `capsule.jsonc`, read and checked. `grants` is as declared: defaults and bindings are the grants room's. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  /** As written: relative to the manifest. The checked real path is the capsule's `componentPath`. */
  readonly component: string;
  readonly args: readonly string[];
  readonly grants: DeclaredGrants;
  readonly trace: { readonly capture: Capture };
  readonly positions: Positions;
}

/** What a user names to run: a folder with a manifest, or a component alone. Paths are absolute and real. */
export interface Capsule {
  readonly kind: "manifest" | "bare";
  /** The capsule's folder; of a bare component the folder it lies in. */
  readonly root: string;
  readonly name: string;
  readonly version?: string;
  readonly componentPath: string;
  /** Present exactly when `kind` is `manifest`. */
  readonly manifestPath?: string;
  /** `sha256:<hex>` of the bytes that `manifest` was read from. */
  readonly manifestDigest?: string;
  readonly manifest?: Manifest;
}

/** One `boll.jsonc`, read and checked. It counts as the operator's word only when its path and digest are trusted. */
export interface Workspace {
  /** The file's real path. */
  readonly path: string;
  /** The real path of its folder. */
  readonly root: string;
  /** Globs of own capsules, relative to `root`. */
  readonly capsules: readonly string[];
  /** The most that anything below `root` may have. */
  readonly ceiling?: DeclaredGrants;
  /** The proxy that the gate connects through. Counts only when this file is trusted ({@link findUpstream}). */
  readonly proxy?: Proxy;
  /** Absolute path of a PEM file, as written and not looked at. Counts only when this file is trusted. */
  readonly ca?: string;
  /** `sha256:<hex>` of the file's bytes. */
  readonly digest: string;
  readonly positions: Positions;
}
