import { newId } from "../../base/mod.ts";
import { type Msg, readAllowedTools } from "../../protocol/control/mod.ts";
import { remoteLauncher, type SessionWork, TurnDelegations } from "../../session/role.ts";
import type { AgentMind } from "../thread/agent_mind.ts";
import type { FoundAgent } from "./find_agent.ts";
import { systemPrompt, type TurnEnd } from "../loop/mod.ts";
import { type AskUser, delegateTool, requestInputTool, skillTool } from "../tools/own_tools.ts";
import { seedContext } from "../door/seed_context.ts";
import type { Peers } from "../peers/mod.ts";
import { sendMessageTool } from "../tools/send_message.ts";
import { askedTool, type DeskTool, ToolDesk } from "../tools/tool_desk.ts";
import { type SentText, taskText } from "../turn/task_text.ts";
import { TurnChildren } from "../turn/turn_children.ts";
import type { TurnPeople } from "../turn/turn_people.ts";
import { TurnFollower } from "../turn/turn_follower.ts";
import { keepAnswer } from "../turn/turn_outcome.ts";

/** What an agent's session works with. */
export interface AgentSessionOptions {
  readonly work: SessionWork;
  readonly agent: FoundAgent;
  readonly mind: AgentMind;
  readonly peers?: Peers | undefined;
  /** The tools of its components. */
  readonly tools: readonly DeskTool[];
  /** Whom those reach. */
  readonly people: TurnPeople;
}

/** One task of an agent. */
export interface AgentTask extends SentText {
  readonly id: string;
  /** Peers have only a share of its tokens. */
  readonly isPeers?: boolean;
  /** The transcript before it. */
  readonly history: readonly Msg[];
  /** Ends it; its deadline is armed here. */
  readonly signal: AbortSignal;
  /** Whom it may ask back; absent: nobody. */
  readonly ask?: AskUser;
  /** Hears the answer as it comes; `undefined`: what came of the round is void. */
  onText?(text: string | undefined): void;
}

/** An agent in its session, task after task. */
export class AgentSession {
  readonly #options: AgentSessionOptions;
  readonly #patterns: readonly string[] | undefined;
  readonly #system: string;
  /** What its parent gave along, before any task. */
  readonly context: readonly Msg[];
  #tokens = 0;
  #turns = 0;
  /** The last task had not even a first round. */
  #isRefused = false;

  constructor(options: AgentSessionOptions) {
    const { payload } = options.work;
    const { systemPrompt: prompt } = options.agent.capsule;
    const { system, messages } = seedContext(payload.context_seed, Date.now());
    this.#options = options;
    this.#patterns = readAllowedTools(payload.context_seed);
    this.context = messages;
    this.#system = systemPrompt({
      context: system,
      ...(prompt === undefined ? {} : { prompt }),
      ...(payload.output_contract === undefined ? {} : { contract: payload.output_contract }),
      ...(payload.output_schema === undefined ? {} : { outputSchema: payload.output_schema }),
    });
  }

  /** Whether its tokens are spent: nothing that it is asked could be answered. */
  get isSpent(): boolean {
    return this.#isRefused || this.#tokens >= this.#options.work.payload.limits.max_tokens;
  }

  /** Does one task; its answer is in the records then. Rejects only when they cannot be written. */
  async run(task: AgentTask): Promise<TurnEnd> {
    const { work: { payload, places, plan, control, trace }, agent: { capsule }, mind, people } = this.#options;
    const { limits, telemetry, output_schema } = payload;
    const { max_output_tokens, temperature } = capsule.manifest.inference;
    const delegations = plan.grants.spawn.length === 0
      ? undefined
      : new TurnDelegations(remoteLauncher(control.requests), trace);
    const children = delegations === undefined ? undefined : new TurnChildren(delegations);
    people.change(task.ask, delegations);
    const follower = new TurnFollower({
      control,
      trace,
      taskId: task.id,
      turn: this.#turns++,
      capturesContent: telemetry.log_content,
      ...(task.onText === undefined ? {} : { onText: (text) => task.onText!(text) }),
    });
    const late = new AbortController();
    const timer = setTimeout(() => late.abort("deadline"), limits.deadline_ms);
    const now = Date.now();
    try {
      const end = await mind.run({
        input: {
          system: this.#system,
          history: task.history,
          opening: [{ role: "user", text: taskText(task), ts: now }],
          ...(output_schema === undefined ? {} : { outputSchema: output_schema }),
          maxRounds: limits.max_steps,
          maxTokens: limits.max_tokens - this.#tokens,
          maxOutputTokens: max_output_tokens,
          ...(temperature === undefined ? {} : { temperature }),
          deadlineAt: now + limits.deadline_ms,
          hasFinish: true,
        },
        desk: new ToolDesk(this.#patterns, this.#tools(task, children)),
        ...(children === undefined ? {} : { children }),
        follower,
        asksBudget: true,
        signal: AbortSignal.any([task.signal, late.signal]),
      });
      if (end.bug !== undefined) control.logFailure(end.bug);
      // What peers are refused may be there for others.
      if (!task.isPeers) this.#isRefused = end.status === "exhausted_tokens" && end.rounds === 0;
      keepAnswer(places, task.id, end);
      return end;
    } finally {
      clearTimeout(timer);
      const { usage } = follower.spent;
      this.#tokens += usage.input_tokens + usage.output_tokens;
      await delegations?.end();
      people.change(undefined, undefined);
    }
  }

  #tools({ ask }: AgentTask, children: TurnChildren | undefined): DeskTool[] {
    const { work: { payload, plan, control }, agent: { skills }, tools, peers } = this.#options;
    const own = [
      ...(children === undefined ? [] : [delegateTool(children, plan.grants.spawn)]),
      ...(ask === undefined ? [] : [requestInputTool(ask)]),
      ...(peers === undefined ? [] : [sendMessageTool(peers)]),
      ...(skills.length === 0 ? [] : [skillTool(skills)]),
      ...tools,
    ];
    const asked = (name: string, args: unknown) => control.requests.ask(name, args);
    return own.map((tool) =>
      payload.gated_tools.includes(tool.def.name) ? askedTool(tool.def, tool.mutates, asked) : tool
    );
  }
}

/** Records the beginning of a task that did not come by a door, and gives its id. */
export function beginTask({ trace, payload }: Pick<SessionWork, "trace" | "payload">, contextId: string): string {
  const task_id = newId("tsk");
  const principal = payload.depth === 0 ? "owner" : "parent";
  trace.append("task_start", { task_id, context_id: contextId, origin: "user", principal, is_rerun: false });
  return task_id;
}

/** Records what such a task came to. */
export function endTask({ trace }: Pick<SessionWork, "trace">, task_id: string, startedMs: number, end: TurnEnd): void {
  const { status, reason } = end;
  const state = status === "completed" ? "completed" : status === "cancelled" ? "canceled" : "failed";
  const duration_ms = Math.round(performance.now() - startedMs);
  trace.append("task_end", { task_id, state, status, ...(reason === undefined ? {} : { reason }), duration_ms });
}
