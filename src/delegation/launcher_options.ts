import type { Grants } from "../grants/mod.ts";
import type { SessionPaths } from "../records/mod.ts";
import type { SessionRequest } from "../session/mod.ts";
import type { ProcessWatch, SupervisorOptions } from "../supervisor/tree/mod.ts";
import type { Spawnable, Unspawnable } from "./spawnable.ts";

/** The session of the launcher's own process: what it may do bounds all that is below it. */
export interface RootSession {
  readonly places: Pick<SessionPaths, "id" | "runtime">;
  readonly grants: Grants;
  readonly envValues: Readonly<Record<string, string>>;
  /** What it has left of its deadline. */
  remainingMs(): number;
}

/** What a launcher stands on. */
export interface LauncherOptions extends Pick<SessionRequest, "home" | "runtime" | "boll_version" | "upstream"> {
  readonly root: RootSession;
  /** What stands for a name of `grants.spawn`. */
  find(name: string): Spawnable | Unspawnable;
  /** What a child's cell will be contained by. */
  containmentOf(grants: Grants): SessionRequest["containment"];
  /** A session has its places, and starts. */
  onStart?(places: SessionPaths): void;
  /** It is reaped and recorded. */
  onEnd?(places: SessionPaths): void;
  /** One line for the operator. */
  warn(line: string): void;
  readonly processes?: ProcessWatch;
  readonly supervision?: Pick<SupervisorOptions, "admission" | "timings" | "drain">;
}
