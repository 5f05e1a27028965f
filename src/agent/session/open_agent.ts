import { CapsuleError, type HullRules } from "../../base/mod.ts";
import { ALLOWED_TOOLS_ROLE, type SpawnPayload } from "../../protocol/control/mod.ts";
import { type SessionWork, supervisorRules, upstreamOf, withModelPorts } from "../../session/role.ts";
import type { ToolCells, ToolNeeds } from "../../session/tools/mod.ts";
import { AgentMind } from "../thread/agent_mind.ts";
import type { Peers } from "../peers/mod.ts";
import type { ComponentToolsOptions } from "../tools/component_tools.ts";
import type { FoundAgent } from "./find_agent.ts";
import { modelNetwork } from "./model_network.ts";
import type { TurnPeople } from "../turn/turn_people.ts";

/** What an agent works with, behind the walls of its session. */
export interface OpenAgent extends AsyncDisposable {
  readonly mind: AgentMind;
  readonly cells: ToolCells | undefined;
  readonly peers: Peers | undefined;
}

/** What an agent reaches beyond its session, behind the walls. */
type OpenReach = Omit<OpenAgent, "mind">;

/**
 * Raises the walls of this session and starts its model's thread and the cells of its tools behind them, at the same time.
 * Nothing of it is left when one of them fails.
 * @throws `hull.failed`, `component.*`, `tool.*`, `grant.import_not_granted`, `cell.start_failed`, `model.*`
 */
export async function openAgent(work: SessionWork, agent: FoundAgent, people: TurnPeople): Promise<OpenAgent> {
  let opening: Promise<AgentMind> | undefined;
  await using stack = new AsyncDisposableStack();
  stack.defer(async () => (await opening?.catch(() => undefined))?.[Symbol.dispose]());
  const reach = await openWalled(work, agent, people, (rules) => {
    work.hull?.confine(rules);
    // A thread is made in the time in which a cell starts, not before it.
    opening = Promise.resolve().then(() => openMind(work));
    // The cells are waited for first.
    opening.catch(() => {});
  });
  stack.use(reach);
  const mind = await opening!;
  const opened = stack.move();
  return { ...reach, mind, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/**
 * Raises the walls of this session, around its model, the way to its peers and the cells of its tools, which are started
 * behind them.
 * @throws `hull.failed`, `component.*`, `tool.*`, `grant.import_not_granted`, `cell.start_failed`
 */
export async function openWalled(
  work: SessionWork,
  agent: FoundAgent,
  people: TurnPeople,
  raise: (rules: HullRules) => void,
): Promise<OpenReach> {
  await using stack = new AsyncDisposableStack();
  const peers = stack.use(await openPeers(work));
  const confine = ({ networks }: Pick<ToolNeeds, "networks">) =>
    raise(rulesOf(work, peers === undefined ? networks : [...networks, peers.network]));
  const cells = stack.use(await openCells({ work, agent, people, confine }));
  const opened = stack.move();
  return { cells, peers, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function openCells(options: ComponentToolsOptions): Promise<ToolCells | undefined> {
  if (options.agent.capsule.tools.length > 0) {
    const { openComponentTools } = await import("../tools/component_tools.ts");
    return await openComponentTools(options);
  }
  options.confine({ networks: [], caches: [] });
  return undefined;
}

/** The A2A SDK is loaded by those alone that have peers. */
async function openPeers(work: SessionWork): Promise<Peers | undefined> {
  if (work.payload.a2a_peers.length === 0) return undefined;
  return await (await import("../peers/mod.ts")).Peers.open(work);
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

/** Opens the model, in a thread that is made at once: the walls must stand. @throws `model.*` */
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
    a2a_peers: isTurn && a2a_peers.length > 0,
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
