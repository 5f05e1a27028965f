import { CapsuleError, type HullRules, newId } from "../base/mod.ts";
import { ALLOWED_TOOLS_ROLE, type Msg, type SpawnPayload } from "../protocol/control/mod.ts";
import type { ToolCells, ToolNeeds } from "../session/tools/mod.ts";
import { type RoleResult, type SessionWork, supervisorRules, upstreamOf, withModelPorts } from "../session/role.ts";
import { AgentMind } from "./agent_mind.ts";
import { deskTools } from "./desk_tools.ts";
import { AgentSession, beginTask, endTask } from "./agent_session.ts";
import { findAgent, type FoundAgent } from "./find_agent.ts";
import { gateAsk } from "./gate_ask.ts";
import { aborted, type TurnEnd } from "./loop/mod.ts";
import { modelNetwork } from "./model_network.ts";
import { TurnPeople } from "./turn_people.ts";
import { answerOf, outcomeOf, roleResultOf } from "./turn_outcome.ts";

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
    return await (await import("./agent_door.ts")).runAgentDoor(work, agent, payload.door);
  }
  const people = new TurnPeople();
  await using cells = await openWalled(work, agent, people);
  using mind = await openMind(work);
  const session = new AgentSession({ work, agent, mind, people, tools: cells === undefined ? [] : deskTools(cells) });
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

/**
 * Raises the walls of this session around its model and the cells of its tools, which are started behind them; `raise`
 * does it another way.
 * @throws `hull.failed`, `component.*`, `tool.*`, `grant.import_not_granted`, `cell.start_failed`
 */
export async function openWalled(
  work: SessionWork,
  agent: FoundAgent,
  people: TurnPeople,
  raise = (rules: HullRules): unknown => work.hull?.confine(rules),
): Promise<ToolCells | undefined> {
  const confine = ({ networks }: Pick<ToolNeeds, "networks">) => void raise(rulesOf(work, networks));
  if (agent.capsule.tools.length > 0) {
    const { openComponentTools } = await import("./component_tools.ts");
    return await openComponentTools({ work, agent, people, confine });
  }
  confine({ networks: [] });
  return undefined;
}

function rulesOf({ payload, plan, places, tmp }: SessionWork, networks: ToolNeeds["networks"]): HullRules {
  const [network] = networks;
  const { ports } = modelNetwork(payload.intelligence!, payload.upstream?.proxy);
  const rules = supervisorRules(plan.grants, {
    cache: payload.places.cache,
    session: places.root,
    // The folders of the cells are made in this process's own.
    tmp: `${tmp}/cell`,
    ...(plan.grants.fs.work === undefined ? {} : { work: places.work }),
    ...(network === undefined ? {} : { network: { ...network, gatePort: networks.map(({ gatePort }) => gatePort) } }),
  }, false);
  return withModelPorts(rules, ports);
}

/** Opens the model, in a thread that is made behind the walls. @throws `model.*` */
export async function openMind({ payload, control }: SessionWork): Promise<AgentMind> {
  const intelligence = payload.intelligence!;
  const { proxy } = payload.upstream ?? {};
  return await AgentMind.open({
    intelligence,
    caCerts: upstreamOf(payload).upstream?.certificates ?? [],
    ...(proxy === undefined ? {} : { proxy }),
    ports: modelNetwork(intelligence, proxy).ports,
    control,
  });
}

/** What would have no effect is refused by name. @throws `payload.unsupported` */
export function refuseUnsupported(payload: SpawnPayload): void {
  const { role, mcp_servers, a2a_peers, args, door, warm, turn } = payload;
  const isTurn = role === "turn";
  const without = {
    mcp_servers: mcp_servers.length > 0,
    a2a_peers: a2a_peers.length > 0,
    args: args.length > 0,
    door: door !== undefined && (!warm || isTurn),
    warm: warm && isTurn,
    turn: turn !== undefined && !isTurn,
    // A turn says these itself.
    output_contract: isTurn && payload.output_contract !== undefined,
    output_schema: isTurn && payload.output_schema !== undefined,
    context_seed: isTurn && payload.context_seed.some(({ role }) => role !== ALLOWED_TOOLS_ROLE),
    "turn.mcp_routes": Object.keys(turn?.mcp_routes ?? {}).length > 0,
  };
  const found = Object.entries(without).find(([, isThere]) => isThere)?.[0];
  if (found === undefined) return;
  throw new CapsuleError(
    "payload.unsupported",
    `Start a session of the role ${role}: found ${found}, which it has not`,
  );
}
