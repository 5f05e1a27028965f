import { CapsuleError } from "../../base/mod.ts";
import { cacheKey, findCached } from "../../component/mod.ts";
import { toolGrants } from "../../grants/mod.ts";
import type { SessionWork } from "../../session/role.ts";
import { upstreamOf } from "../../session/role.ts";
import { ToolCells, type ToolInput, type ToolNeeds } from "../../session/tools/mod.ts";
import type { FoundAgent } from "../session/find_agent.ts";
import type { TurnPeople } from "../turn/turn_people.ts";

/** The longest word of a tool that is passed on, characters. */
const MAX_WORD = 4_096;

/** How the components of an agent are opened. */
export interface ComponentToolsOptions {
  readonly work: SessionWork;
  readonly agent: FoundAgent;
  /** Whom their calls reach beyond their cells. */
  readonly people: TurnPeople;
  /** Raises the walls of this process. */
  confine(needs: ToolNeeds): void;
}

/**
 * Starts the cells of an agent's tools. Their components must have been built: a session builds none.
 * @throws `component.*`, `tool.*`, `grant.import_not_granted`, `cell.start_failed`, `hull.failed`
 */
export async function openComponentTools(options: ComponentToolsOptions): Promise<ToolCells> {
  const { work, people, confine } = options;
  const { payload, plan, places, trace, kernel, tmp, control } = work;
  return await ToolCells.open({
    grants: plan.grants,
    containment: plan.containment,
    tools: findTools(options),
    envValues: Object.fromEntries(payload.env),
    places,
    kernel,
    trace,
    ...upstreamOf(payload),
    tmp,
    delegator: people,
    recordsCalls: false,
    // Whoever reads it must not take a component's words for the agent's.
    requestInput: async ({ tool, question, signal }) => await people.ask(`The tool ${tool} asks: ${question}`, signal),
    onEmit: ({ tool, text }) =>
      control.offer({ type: "event", event: "tool.emit", fields: { tool, text: text.slice(0, MAX_WORD) } }),
    confine,
  });
}

function findTools({ work: { payload, plan }, agent }: ComponentToolsOptions): ToolInput[] {
  return agent.capsule.tools.map(({ name, grants }) => {
    const { limits } = toolGrants(grants, plan.grants).grants;
    const component = findCached(payload.places.cache, cacheKey(agent.tools[name]!, { memoryMb: limits.memory_mb }));
    if (component === undefined) {
      const message = `Start a session of ${agent.capsule.name}: its tool ${name} is not built`;
      throw new CapsuleError("component.cache_mismatch", message);
    }
    return { name, component, ...(grants === undefined ? {} : { grants }) };
  });
}
