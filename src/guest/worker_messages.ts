import type {
  CellUsage,
  DelegationEnd,
  FromCell,
  GuestEnding,
  HostCall,
  HostResult,
  RunLoad,
  ServeLoad,
  ToCell,
  ToolsLoad,
} from "../protocol/mod.ts";
import type { LoadedComponent } from "../component/mod.ts";
import type { Denial, SymlinkPlace } from "../wasi/mod.ts";

/** Everything a guest's thread needs; posted once, after the cell has given up what it no longer needs. */
export interface GuestStart {
  readonly load: RunLoad;
  readonly loaded: LoadedComponent;
  /** Where the cell's main thread answers a {@link SymlinkRequest}: one Int32, see {@link SYMLINK_ANSWERS}. */
  readonly answer: SharedArrayBuffer;
  /** Where the cell's main thread answers `read_ahead`: of `shareReadAhead`. */
  readonly stdin: SharedArrayBuffer;
}

/** The start of a guest that serves; messages of the parent follow. */
export interface ServeStart extends Pick<GuestStart, "loaded" | "answer"> {
  readonly load: ServeLoad;
}

/** The start of tools; messages of the parent follow. The components stand in the order of the load's tools. */
export interface ToolsStart extends Pick<GuestStart, "answer"> {
  readonly load: ToolsLoad;
  readonly loaded: readonly LoadedComponent[];
}

/** How a guest ended and what it used. */
export interface GuestReport {
  readonly ending: GuestEnding;
  readonly usage: CellUsage;
}

/** Asks the cell's main thread to make a link; the guest's thread waits on `answer`. */
export interface SymlinkRequest {
  readonly kind: "symlink";
  readonly place: SymlinkPlace;
}

/** Worker to main thread. What injected code could forge here gains nothing: links are walked again, the rest is data. */
export type FromGuest =
  | { readonly kind: "up" }
  | { readonly kind: "denied"; readonly denial: Denial }
  | SymlinkRequest
  /** Asks for one read of stdin, for a guest that waits for it and something else. */
  | { readonly kind: "read_ahead" }
  | ({ readonly kind: "host_call" } & HostCall)
  | ({ readonly kind: "ended" } & GuestReport)
  /** A guest that serves can be asked, or why not. */
  | { readonly kind: "serving"; readonly error?: string }
  | { readonly kind: "frame"; readonly message: FromCell };

/** What the answer word means: 0 no answer yet, 1 made, from 2 on the WASI error code at that place. */
export const SYMLINK_ANSWERS: readonly string[] = [
  "waiting",
  "made",
  "access",
  "exist",
  "insufficient-space",
  "invalid",
  "io",
  "loop",
  "name-too-long",
  "no-entry",
  "not-directory",
  "not-permitted",
  "quota",
  "read-only",
];

/** Main thread to worker, behind the start: answers to its calls and ends of its delegations; `read` tells that `read_ahead` has its answer. */
export type ToGuest =
  | ({ readonly kind: "host_result" } & HostResult)
  | ({ readonly kind: "delegation_end" } & Omit<DelegationEnd, "type">)
  | { readonly kind: "read" }
  | { readonly kind: "frame"; readonly message: ToCell };
