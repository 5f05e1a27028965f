import type { ProcessHull } from "../../hull/mod.ts";
import type { CellUsage, RunLoad } from "../../protocol/mod.ts";
import type { ErrorDetail, SpawnPayload, TurnResult } from "../../protocol/control/mod.ts";
import type { SessionPaths, TraceWriter } from "../../records/mod.ts";
import type { Outcome } from "../outcome.ts";
import type { CellPlan } from "../plan.ts";
import type { SessionControl } from "./session_control.ts";

/** What a role works with: what it was given, checked, and its ways to the supervisor and the records. */
export interface SessionWork {
  readonly payload: SpawnPayload;
  /** The payload's grants within the payload's limits. */
  readonly plan: CellPlan;
  readonly places: SessionPaths;
  readonly trace: TraceWriter;
  readonly control: SessionControl;
  /** The parts of wall 4 that this host was found to have. */
  readonly kernel: RunLoad["kernel"];
  /** This process's own hull, still open; absent where there is none. */
  readonly hull?: ProcessHull;
  /** This process's private folder. */
  readonly tmp: string;
}

/** What each role does; one that is not there is refused. Its code is loaded when it is asked for. */
export type SessionRoles = Readonly<Partial<Record<SpawnPayload["role"], (work: SessionWork) => Promise<RoleResult>>>>;

/** What the work of a role came to. */
export interface RoleResult {
  readonly outcome: Outcome;
  /** Distilled. */
  readonly answer: unknown;
  readonly usage?: CellUsage;
  /** Whether the answer is not the whole one. Default: unless the guest itself ended. */
  readonly isPartial?: boolean;
  /** The last word is that the work could not be done, and why. */
  readonly failure?: ErrorDetail;
  /** The last word is the result of this turn. */
  readonly turn?: TurnResult;
}
