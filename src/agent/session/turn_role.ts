import { newId } from "../../base/mod.ts";
import { type Msg, readAllowedTools, type TurnSpec } from "../../protocol/control/mod.ts";
import type { RoleResult, SessionWork } from "../../session/role.ts";
import type { AgentMind } from "../thread/agent_mind.ts";
import { openAgent, refuseUnsupported } from "./open_agent.ts";
import { EffectKeys } from "../turn/effect_keys.ts";
import { beginTask, endTask } from "./agent_session.ts";
import { deskTools } from "../tools/desk_tools.ts";
import { findAgent, type FoundAgent } from "./find_agent.ts";
import { FINISH, systemPrompt, type TurnEnd } from "../loop/mod.ts";
import { skillTool } from "../tools/own_tools.ts";
import { askedTool, type DeskTool, ToolDesk } from "../tools/tool_desk.ts";
import { TurnPeople } from "../turn/turn_people.ts";
import { TurnFollower } from "../turn/turn_follower.ts";
import { keepAnswer, roleResultOf, turnResultOf } from "../turn/turn_outcome.ts";

/** What one answer may have when nobody says, tokens. */
const MAX_OUTPUT_TOKENS = 4_096;

/**
 * The role `turn`: one turn of a conversation that its supervisor keeps.
 *
 * @throws `capsule.*`, `manifest.*`, `model.*`, `hull.failed`, `payload.unsupported`
 */
export async function runTurnSession(work: SessionWork): Promise<RoleResult> {
  refuseUnsupported(work.payload);
  const agent = await findAgent(work.payload);
  await using opened = await openAgent(work, agent, new TurnPeople());
  const { mind, cells } = opened;
  work.control.sayReady();
  const taskId = beginTask(work, newId("ctx"));
  const startedMs = performance.now();
  const end = await runSpec(work, { agent, mind, taskId, tools: cells === undefined ? [] : deskTools(cells) });
  if (end.bug !== undefined) work.control.logFailure(end.bug);
  endTask(work, taskId, startedMs, end);
  keepAnswer(work.places, taskId, end);
  return { ...roleResultOf(end), turn: turnResultOf(end) };
}

interface SpecRun {
  readonly agent: FoundAgent;
  readonly mind: AgentMind;
  readonly taskId: string;
  readonly tools: readonly DeskTool[];
}

async function runSpec(work: SessionWork, { agent, mind, taskId, tools }: SpecRun): Promise<TurnEnd> {
  const { payload, control, trace } = work;
  const spec = payload.turn!;
  const { limits, telemetry } = payload;
  const schema = spec.output_schema ?? (spec.kind === "think" ? true : undefined);
  const now = Date.now();
  const follower = new TurnFollower({ control, trace, taskId, turn: 0, capturesContent: telemetry.log_content });
  return await mind.run({
    input: {
      system: systemPrompt({ prompt: spec.system, ...(schema === undefined ? {} : { outputSchema: schema }) }),
      history: spec.messages,
      opening: openingOf(spec, payload.instruction, now),
      ...(schema === undefined ? {} : { outputSchema: schema }),
      maxRounds: Math.min(spec.max_rounds || limits.max_steps, limits.max_steps),
      maxTokens: limits.max_tokens,
      maxOutputTokens: spec.max_tokens_per_call || MAX_OUTPUT_TOKENS,
      ...(spec.temperature === undefined ? {} : { temperature: spec.temperature }),
      deadlineAt: now + limits.deadline_ms,
      hasFinish: spec.kind === "agent" || spec.tools.some(({ name }) => name === FINISH),
    },
    desk: new ToolDesk(
      readAllowedTools(payload.context_seed),
      spec.kind === "think" ? [] : toolsOf(work, spec, [...ownTools(agent), ...tools]),
    ),
    follower,
    asksBudget: spec.budget_admission,
    signal: control.signal,
  });
}

/** A conversation that is there already goes on; an empty one begins with the instruction. */
function openingOf({ messages }: TurnSpec, instruction: string, ts: number): Msg[] {
  return messages.length === 0 ? [{ role: "user", text: instruction, ts }] : [];
}

function ownTools({ skills }: FoundAgent): DeskTool[] {
  return skills.length === 0 ? [] : [skillTool(skills)];
}

/** The tools of the turn: the parent's own and those that it guards go up to it, the rest are this capsule's. */
function toolsOf({ payload, control }: SessionWork, spec: TurnSpec, own: readonly DeskTool[]): DeskTool[] {
  const keys = new EffectKeys(spec.idempotency_prefix);
  const isAsked = (name: string) => spec.internal.includes(name) || payload.gated_tools.includes(name);
  return spec.tools.filter(({ name }) => name !== FINISH).flatMap((def) => {
    if (!isAsked(def.name)) return own.filter((tool) => tool.def.name === def.name);
    const { mutates } = Object(spec.tool_meta?.[def.name]) as { readonly mutates?: unknown };
    return [askedTool(def, mutates === true, (name, args) => control.requests.ask(name, args, keys.of(name, args)))];
  });
}
