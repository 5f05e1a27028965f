/**
 * Entry of a session: a process that runs one session below its supervisor, in the role that its first frame names. What
 * comes before a role begins and after it has ended is `session/`'s; the code of a role is loaded when it is asked for.
 *
 * It is the room's one door: no other room imports from here. Task → answer: `session/` has the roles of an agent, `door/`
 * its tasks from outside, `turn/` what one turn asks of whoever is above, `thread/` the two sides of the loop's thread,
 * `loop/` the loop, `model/` the model, `tools/` what it may call. A guest and a process are never the room's own business.
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
