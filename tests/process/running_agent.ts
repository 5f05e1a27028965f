/** An agent's session with a scripted model, driven by raw frames. */
import type { Bed } from "../harness.ts";
import { type AgentOptions, type PlayedTurn, prepareAgent } from "./prepare_agent.ts";
import { type Frame, type Started, startPrepared } from "./running_session.ts";

/** Gives every budget that is asked for. */
export function grantAll({ type, id }: Frame): object | undefined {
  return type === "budget_request" ? { type: "budget_grant", id, ok: true, wait_ms: 0 } : undefined;
}

/** Starts an agent whose supervisor answers what it asks. */
export async function startAgent(bed: Bed, options: AgentOptions, reply = grantAll): Promise<Started> {
  const started = await startPrepared(await prepareAgent(bed, options));
  started.session.answer(reply);
  return started;
}

/** A turn of its model that calls the tool `name`. */
export function callOf(name: string, args: unknown = {}): Required<Pick<PlayedTurn, "tool_calls">> {
  return { tool_calls: [{ name, arguments: args }] };
}
