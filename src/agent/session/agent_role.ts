import { newId } from "../../base/mod.ts";
import type { Msg } from "../../protocol/control/mod.ts";
import type { RoleResult, SessionWork } from "../../session/role.ts";
import { AgentSession, beginTask, endTask } from "./agent_session.ts";
import { deskTools } from "../tools/desk_tools.ts";
import { findAgent } from "./find_agent.ts";
import { gateAsk } from "../turn/gate_ask.ts";
import { aborted, type TurnEnd } from "../loop/mod.ts";
import { openAgent, refuseUnsupported } from "./open_agent.ts";
import { answerOf, outcomeOf, roleResultOf } from "../turn/turn_outcome.ts";
import { TurnPeople } from "../turn/turn_people.ts";

/**
 * The role `agent`: a model, its loop and its tools. One task, or when it is warm one after the other as they come.
 *
 * @throws `capsule.*`, `manifest.*`, `model.*`, `hull.failed`, `payload.unsupported`
 */
export async function runAgentSession(work: SessionWork): Promise<RoleResult> {
  const { payload } = work;
  refuseUnsupported(payload);
  const agent = await findAgent(payload);
  if (payload.door !== undefined) {
    return await (await import("../door/agent_door.ts")).runAgentDoor(work, agent, payload.door);
  }
  const people = new TurnPeople();
  await using opened = await openAgent(work, agent, people);
  const { mind, cells, peers } = opened;
  const session = new AgentSession({
    work,
    agent,
    mind,
    people,
    peers,
    tools: cells === undefined ? [] : deskTools(cells),
  });
  work.control.sayReady();
  return payload.warm ? await runWarm(work, session) : await runOnce(work, session);
}

async function runOnce(work: SessionWork, session: AgentSession): Promise<RoleResult> {
  const { payload } = work;
  const ask = payload.interactive ? { ask: gateAsk(work.control) } : {};
  const end = await runTask(work, session, { text: payload.instruction, history: session.context, ...ask });
  return roleResultOf(end);
}

/** Its instruction is the first turn. It ends when it is told to, and when nothing more can be asked of it. */
async function runWarm(work: SessionWork, session: AgentSession): Promise<RoleResult> {
  const { payload, control } = work;
  const ask = gateAsk(control);
  const contextId = newId("ctx");
  const inbox = control.inbox!;
  let history: readonly Msg[] = session.context;
  let text: string | undefined = payload.instruction;
  for (;;) {
    const signal = AbortSignal.any([control.signal, inbox.beginTurn()]);
    const end = await runTask(work, session, { text, history, ask, signal }, contextId);
    inbox.endTurn();
    const { answer, isPartial } = answerOf(end);
    if (control.signal.aborted || session.isSpent) return roleResultOf(end);
    control.endTurn({ status: end.status, partial: isPartial, result: answer, scheduled: [], subscriptions: [] });
    history = [...history, ...end.messages];
    text = await Promise.race([inbox.nextTurn(), aborted(control.signal)]) ?? undefined;
    if (text === undefined && control.isClosed) return roleResultOf(end);
    if (text === undefined) return { outcome: outcomeOf({ ...end, status: "cancelled" }), answer, isPartial };
  }
}

interface PlainTask {
  readonly text: string;
  readonly history: readonly Msg[];
  readonly ask?: ReturnType<typeof gateAsk>;
  /** Ends it; default the session's end. */
  readonly signal?: AbortSignal;
}

async function runTask(
  work: SessionWork,
  session: AgentSession,
  task: PlainTask,
  contextId = newId("ctx"),
): Promise<TurnEnd> {
  const id = beginTask(work, contextId);
  const startedMs = performance.now();
  const end = await session.run({ signal: work.control.signal, ...task, id });
  endTask(work, id, startedMs, end);
  return end;
}
