/**
 * Entry of a session: a process that runs one session below its supervisor, in the role that its first frame names. What
 * comes before a role begins and after it has ended is `session/`'s; the code of a role is loaded when it is asked for.
 * @module
 */
import { runCommandRole, runSession } from "../session/run_session.ts";

/** Runs this process as a session. Never returns. */
export async function beSession(): Promise<never> {
  return await runSession({
    command: runCommandRole,
    agent: async (work) => await (await import("./session/agent_role.ts")).runAgentSession(work),
    turn: async (work) => await (await import("./session/turn_role.ts")).runTurnSession(work),
  });
}
