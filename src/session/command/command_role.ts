import type { RoleResult, SessionWork } from "../control/session_work.ts";

/** The role `command`, with a door or without one: only the code of the one that is asked for is loaded. */
export async function runCommandRole(work: SessionWork): Promise<RoleResult> {
  const { warm, door } = work.payload;
  if (warm && door !== undefined) return await (await import("../door/door_session.ts")).runDoorSession(work, door);
  return await (await import("./command_session.ts")).runCommandSession(work);
}
