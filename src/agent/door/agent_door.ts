import { type HullRules, STATUS_EXIT } from "../../base/mod.ts";
import type { DoorSpec } from "../../protocol/control/mod.ts";
import { raiseDoorHull, type RoleResult, serveDoor, type SessionWork } from "../../session/role.ts";
import { AgentDoorWork } from "./agent_door_work.ts";
import type { AgentMind } from "../thread/agent_mind.ts";
import { openMind, openWalled } from "../session/open_agent.ts";
import { AgentSession } from "../session/agent_session.ts";
import { deskTools } from "../tools/desk_tools.ts";
import { DoorContexts } from "./door_contexts.ts";
import type { FoundAgent } from "../session/find_agent.ts";
import { seedContext } from "./seed_context.ts";
import { TurnPeople } from "../turn/turn_people.ts";

/**
 * An agent behind a door: what comes in are its tasks, one after the other, until it is told to end. Its model is opened
 * last, in a thread that is made when nothing can be bound any more.
 *
 * @throws `hull.failed`, `component.*`, `tool.*`, `model.*`, `service.listen_failed`
 */
export async function runAgentDoor(work: SessionWork, agent: FoundAgent, spec: DoorSpec): Promise<RoleResult> {
  const { payload, control } = work;
  const people = new TurnPeople();
  let hull: ReturnType<typeof raiseDoorHull> | undefined;
  const raise = (rules: HullRules) => void (hull = raiseDoorHull(work, rules, spec));
  await using reach = await openWalled(work, agent, people, raise);
  const { cells, peers } = reach;
  await using stack = new AsyncDisposableStack();
  const ready = Promise.withResolvers<AgentSession>();
  ready.promise.catch(() => {});
  const tasks = new AgentDoorWork({
    session: ready.promise,
    contexts: new DoorContexts(seedContext(payload.context_seed, Date.now()).messages),
    people,
    control,
    inputTimeoutMs: spec.input_timeout_ms ?? payload.limits.deadline_ms,
  });
  const { name, version, manifest } = agent.capsule;
  let mind: AgentMind | undefined;
  let session: AgentSession | undefined;
  const served = await serveDoor(work, hull!, {
    spec,
    tasks,
    card: {
      name,
      version: version ?? "0.0.0",
      description: manifest.description ?? `The agent ${name}.`,
    },
    async onBound() {
      try {
        mind = stack.use(await openMind(work));
      } catch (error) {
        ready.reject(error);
        throw error;
      }
      const tools = cells === undefined ? [] : deskTools(cells);
      session = new AgentSession({ work, agent, mind, people, peers, tools });
      ready.resolve(session);
    },
    unready() {
      if (session?.isSpent) return SPENT;
      if (mind === undefined) return "it starts";
      return mind.isReachable ? undefined : "its model cannot be reached";
    },
  });
  return spec.accept === "queue" && session?.isSpent ? asSpent(served) : served;
}

const SPENT = "its tokens are spent";

/** However well it drained: from some task on it could do nothing more. */
function asSpent({ outcome, ...result }: RoleResult): RoleResult {
  if (outcome.status !== "completed") return { outcome, ...result };
  const status = "exhausted_tokens";
  return {
    ...result,
    outcome: { ...outcome, status, exit_code: STATUS_EXIT[status], detail: `${outcome.detail}; ${SPENT}` },
  };
}
