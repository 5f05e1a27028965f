import type { Intelligence, Remote } from "../protocol/control/mod.ts";
import type { SessionRequest } from "./prepare_session.ts";

/** What a session is to do, as it goes into the first frame. */
export type SessionTask = SessionRequest["task"];

/** What every task says. */
export interface TaskInput extends Pick<SessionTask, "limits" | "depth"> {
  /** The capsule's name. */
  readonly name: string;
  /** Its place in the tree: `0`, `0.1`. */
  readonly path: string;
  /** The run that it belongs to, for its log. */
  readonly runId: string;
  /** Whether its log may hold what is said. */
  readonly logContent: boolean;
  readonly instruction?: string;
  readonly warm?: boolean;
}

/** The task of a command: its guest reads the instruction on its stdin. */
export function commandTask(input: TaskInput, args: readonly string[]): SessionTask {
  return { ...taskOf(input), role: "command", args };
}

/** Whom an agent asks beyond its session, with what opens their doors. */
export interface AgentReach {
  readonly intelligence: Intelligence;
  readonly peers: readonly Remote[];
}

/** The task of an agent, with its model and its peers. */
export function agentTask(input: TaskInput, { intelligence, peers }: AgentReach): SessionTask {
  return { ...taskOf(input), role: "agent", args: [], intelligence, a2a_peers: peers };
}

function taskOf(
  { name, path, runId, logContent, instruction = "", warm = false, limits, depth }: TaskInput,
): Omit<SessionTask, "role" | "args"> {
  return {
    instruction,
    context_seed: [],
    mcp_servers: [],
    a2a_peers: [],
    gated_tools: [],
    limits,
    telemetry: { run_id: runId, agent_id: name, agent_path: path, log_level: "info", log_content: logContent },
    depth,
    warm,
  };
}
