import type { Grants } from "../grants/mod.ts";
import type { Intelligence, Remote } from "../protocol/control/mod.ts";
import type { SessionPaths } from "../records/mod.ts";
import type { PreparedSession, SessionRequest } from "../session/mod.ts";
import type {
  Notice,
  ProcessWatch,
  SessionChild,
  Slot,
  SpawnRequest,
  SupervisorOptions,
} from "../supervisor/tree/mod.ts";
import type { OpenKeepFolder } from "./ending/keep_answer.ts";
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
  /** Absent: the root is a session below this process ({@link Launcher.startRoot}). */
  readonly root?: RootSession;
  /** What stands for the run on each line of a log, when there is no session of this process. */
  readonly runId?: string;
  /** What stands for a name of `grants.spawn`. */
  find(name: string): Spawnable | Unspawnable;
  /** Tokens of the whole tree's models; default the most that any session may have. */
  readonly treeTokens?: number;
  /** What a child's cell will be contained by. */
  containmentOf(grants: Grants): SessionRequest["containment"];
  /** A session has its places, and starts. */
  onStart?(places: SessionPaths): void;
  /** It is reaped and recorded. */
  onEnd?(places: SessionPaths): void;
  /** One line for the operator. */
  warn(line: string): void;
  readonly processes?: ProcessWatch;
  /** Opens the folders in which whole answers are kept. */
  readonly openFolder?: OpenKeepFolder;
  readonly supervision?: Pick<SupervisorOptions, "admission" | "timings" | "drain">;
  /** Delegations of one session that it may leave unasked for; default 64. */
  readonly maxUnheard?: number;
  /** What a root says of itself. */
  onNotice?(notice: Notice): void;
  /** A root was started again. */
  onRestarted?(child: SessionChild): void;
}

/** A session of the operator's, which nobody delegated to. */
export interface RootRequest extends Pick<SpawnRequest, "limits" | "warm" | "hasDoor" | "restarts"> {
  /** An agent's model; absent: it is a command. */
  readonly intelligence?: Intelligence;
  /** An agent's. */
  readonly peers?: readonly Remote[];
  readonly grants: Grants;
  readonly envValues: Readonly<Record<string, string>>;
  /** Makes its places, also before each restart. */
  prepare(slot: Slot): PreparedSession;
  /** What is left of the time in which it may delegate. */
  remainingMs(): number;
}
