import { errorCodeOf } from "../../base/mod.ts";
import { type Msg, sealTranscript, type ToolCall, type Usage } from "../../protocol/control/mod.ts";
import { jsonBytes } from "./bounded_json.ts";
import { canonicalJson } from "./canonical_json.ts";
import { FINISH } from "./finish_tool.ts";
import { AnswerJudge, FINISH_LOOP_TOOL } from "./judge_answer.ts";
import type { ModelAnswer } from "../model/mod.ts";
import type { BudgetReply, LoopPorts, LoopTool } from "./ports.ts";
import { takeAnswer } from "./take_answer.ts";
import { toldTools } from "./told_tools.ts";
import { aborted, callTools } from "./tool_round.ts";
import { type Ending, freshState, type TurnEnd, type TurnInput, type TurnState } from "./turn_state.ts";

/** The call that is made so often in a turn ends it. */
const MAX_SAME_CALLS = 4;
/** So many answers of nothing one after the other end a turn. */
const MAX_EMPTY_ANSWERS = 3;
/** The largest transcript, bytes: with a round on top of it, it fits into a frame. */
const MAX_TRANSCRIPT_BYTES = 8 * 1024 * 1024;

const BYTES_PER_TOKEN = 4;

/**
 * Runs one turn: asks the model, makes the calls it asks for, and asks again, until it has its answer or a guard says no.
 * Never rejects: what goes wrong is how the turn ended, and its transcript has every call answered.
 */
export async function runTurn(input: TurnInput, ports: LoopPorts): Promise<TurnEnd> {
  const turn = new Turn(input, ports);
  return await turn.run();
}

class Turn {
  readonly #input: TurnInput;
  readonly #ports: LoopPorts;
  #messages!: Msg[];
  #rounds = 0;
  #toolCalls = 0;
  #usage: Usage;
  #seen!: Map<string, number>;
  #ids!: Set<string>;
  #judge!: AnswerJudge;
  #empty = 0;
  #bytes = 0;

  constructor(input: TurnInput, ports: LoopPorts) {
    this.#input = input;
    this.#ports = ports;
    const state = input.state ?? freshState(input.opening);
    this.#usage = state.usage;
    this.#start(state);
  }

  async run(): Promise<TurnEnd> {
    try {
      for (;;) {
        const ending = await this.#round();
        if (ending !== undefined) return this.#seal(ending);
      }
    } catch (error) {
      const bug = error instanceof Error ? error.stack ?? error.message : String(error);
      const told = { code: "internal", message: "The runtime failed" };
      return this.#seal({ status: "failed", reason: told.message, error: told, bug });
    }
  }

  #start({ messages, rounds, toolCalls, seen, reasks, empty }: TurnState): void {
    this.#messages = [...messages];
    [this.#rounds, this.#toolCalls, this.#empty] = [rounds, toolCalls, empty];
    this.#judge = new AnswerJudge(this.#input.outputSchema, reasks);
    this.#seen = new Map(seen);
    const all = [...this.#input.history, ...messages];
    this.#ids = new Set(
      all.flatMap((message) => message.role === "assistant" ? message.tool_calls : []).map(({ id }) => id),
    );
    this.#bytes = jsonBytes(all) + jsonBytes(this.#input.system);
  }

  get #state(): TurnState {
    return {
      messages: this.#messages,
      rounds: this.#rounds,
      toolCalls: this.#toolCalls,
      usage: this.#usage,
      seen: this.#seen,
      reasks: this.#judge.reasks,
      empty: this.#empty,
    };
  }

  async #round(): Promise<Ending | undefined> {
    await this.#orAborted(this.#ports.boundary(this.#state));
    const guarded = this.#guard();
    if (guarded !== undefined) return guarded;
    const budget = await this.#askBudget();
    if ("status" in budget) return budget;
    const tools = this.#tools();
    const answer = await this.#askModel(tools, budget.model);
    if ("status" in answer) return answer;
    const known = new Set(tools.map(({ def }) => def.name));
    const { text, calls, dropped } = takeAnswer(answer, this.#ids, (name) => known.has(name));
    const said = { ...(text === "" ? {} : { text }), ...(answer.reasoning && { reasoning: answer.reasoning }) };
    this.#push({ role: "assistant", ...said, tool_calls: calls, ts: this.#ports.now() });
    if (dropped > 0) {
      this.#push({ role: "note", text: `${dropped} calls of the round were left out`, ts: this.#ports.now() });
    }
    if (calls.length > 0) {
      this.#empty = 0;
      return await this.#callTools(calls, tools);
    }
    return await this.#takeText(text, answer.stop);
  }

  /** The guards before anything is spent, in their order. */
  #guard(): Ending | undefined {
    const { maxRounds, deadlineAt } = this.#input;
    const ended = this.#ended();
    if (ended !== undefined) return ended;
    if (this.#ports.now() >= deadlineAt) return DEADLINE;
    if (this.#rounds >= maxRounds) {
      return { status: "exhausted_steps", reason: `all ${maxRounds} rounds are used` };
    }
    if (this.#tokensLeft() <= 0) return { status: "exhausted_tokens", reason: "its tokens are used up" };
    if (this.#bytes > MAX_TRANSCRIPT_BYTES) {
      return { status: "exhausted_tokens", reason: `the transcript has more than ${MAX_TRANSCRIPT_BYTES} bytes` };
    }
    return undefined;
  }

  #ended(): Ending | undefined {
    const { signal } = this.#ports;
    if (!signal.aborted) return undefined;
    return signal.reason === "deadline" ? DEADLINE : { status: "cancelled" };
  }

  #tokensLeft(): number {
    return this.#input.maxTokens - this.#usage.input_tokens - this.#usage.output_tokens;
  }

  /** Asks until there is a yes or a no; gives the model that the yes is for. */
  async #askBudget(): Promise<{ readonly model?: string } | Ending> {
    const ports = this.#ports;
    if (ports.budget === undefined) return {};
    const input = Math.ceil(this.#bytes / BYTES_PER_TOKEN);
    const estimate = Math.max(1, Math.min(this.#tokensLeft(), input + this.#input.maxOutputTokens));
    for (;;) {
      const reply: BudgetReply | undefined = await this.#orAborted(ports.budget(estimate));
      if (reply === undefined) return this.#ended()!;
      if (reply.ok) return reply.model === undefined ? {} : { model: reply.model };
      if (reply.wait_ms <= 0) {
        return { status: "exhausted_tokens", reason: `the budget was refused: ${reply.reason ?? "no reason given"}` };
      }
      await this.#orAborted(ports.sleep(reply.wait_ms));
      if (ports.signal.aborted) return this.#ended()!;
      if (ports.now() >= this.#input.deadlineAt) return DEADLINE;
    }
  }

  #tools(): readonly LoopTool[] {
    const tools = this.#ports.tools.list();
    return this.#input.hasFinish ? [...tools.filter(({ def }) => def.name !== FINISH), FINISH_LOOP_TOOL] : tools;
  }

  async #askModel(tools: readonly LoopTool[], model: string | undefined): Promise<ModelAnswer | Ending> {
    const { system, history, maxOutputTokens, temperature } = this.#input;
    const { signal } = this.#ports;
    const round = this.#rounds;
    this.#ports.emit({ kind: "think", round });
    const startedAt = this.#ports.now();
    let heard = "";
    let answer: ModelAnswer | undefined;
    try {
      answer = await this.#orAborted(this.#ports.model.call({
        messages: [{ role: "system", text: system, ts: startedAt }, ...history, ...this.#messages],
        tools: toldTools(tools),
        maxOutputTokens: Math.max(1, Math.min(maxOutputTokens, this.#tokensLeft())),
        ...(temperature === undefined ? {} : { temperature }),
        ...(model === undefined ? {} : { model }),
        signal,
        onText: (text) => {
          if (signal.aborted) return;
          this.#ports.emit({ kind: "text", round, at: heard.length, text });
          heard += text;
        },
        onReset: () => {
          if (signal.aborted) return;
          heard = "";
          this.#ports.emit({ kind: "reset", round });
        },
      }));
    } catch (error) {
      if (!signal.aborted) return failureOf(error);
    }
    if (answer === undefined) {
      const { text } = takeAnswer({ text: heard, toolCalls: [] }, this.#ids, () => false);
      if (text !== "") this.#push({ role: "assistant", text, tool_calls: [], ts: this.#ports.now() });
      return this.#ended()!;
    }
    this.#rounds++;
    this.#usage = {
      input_tokens: this.#usage.input_tokens + count(answer.usage.input_tokens),
      output_tokens: this.#usage.output_tokens + count(answer.usage.output_tokens),
    };
    const ms = this.#ports.now() - startedAt;
    this.#ports.emit({ kind: "round", round, ms, answer, toolCalls: answer.toolCalls.length });
    return answer;
  }

  async #callTools(calls: readonly ToolCall[], tools: readonly LoopTool[]): Promise<Ending | undefined> {
    const repeated = this.#countCalls(calls);
    if (repeated !== undefined) {
      return {
        status: "loop_detected",
        reason: `${repeated} was called ${MAX_SAME_CALLS} times with the same arguments`,
      };
    }
    const others = calls.filter(({ name }) => !this.#isFinish(name));
    this.#toolCalls += others.length;
    const results = await callTools({ round: this.#rounds - 1, calls: others, tools, ports: this.#ports });
    const byId = new Map(others.map(({ id }, i) => [id, results[i]]));
    let ending = this.#ended();
    for (const call of calls) {
      const answer = byId.get(call.id);
      if (answer !== undefined) this.#push(answer);
      else if (ending !== undefined || !this.#isFinish(call.name)) {
        this.#push(this.#reply(call, "It was not answered: the turn ended", true));
      } else {
        const judged = this.#judge.judgeFinish(call.arguments);
        if ("ending" in judged) ending = judged.ending;
        const isFinished = ending?.finish !== undefined;
        this.#push(
          this.#reply(call, "again" in judged ? judged.again : isFinished ? "Finished" : "Failed", !isFinished),
        );
      }
    }
    return ending;
  }

  #isFinish(name: string): boolean {
    return this.#input.hasFinish && name === FINISH;
  }

  #reply({ id, name }: ToolCall, content: string, is_error: boolean): Msg {
    return { role: "tool", id, name, content, is_error, ts: this.#ports.now() };
  }

  /** The name of the tool that is called once too often. */
  #countCalls(calls: readonly ToolCall[]): string | undefined {
    let repeated: string | undefined;
    for (const { name, arguments: args } of calls) {
      if (this.#isFinish(name)) continue;
      const key = canonicalJson([name, args]);
      const times = (this.#seen.get(key) ?? 0) + 1;
      this.#seen.set(key, times);
      if (times >= MAX_SAME_CALLS) repeated ??= name;
    }
    return repeated;
  }

  async #takeText(text: string, stop: ModelAnswer["stop"]): Promise<Ending | undefined> {
    if (stop === "refused") return { status: "refused", reason: "the model refused" };
    if (stop === "length") {
      return { status: "exhausted_tokens", reason: `the answer is longer than ${this.#input.maxOutputTokens} tokens` };
    }
    if (text.trim() === "") {
      if (++this.#empty >= MAX_EMPTY_ANSWERS) {
        return { status: "stalled", reason: `the model answered nothing ${MAX_EMPTY_ANSWERS} times` };
      }
      this.#say("[boll] The last answer was empty. Go on with the task, or give its result.");
      return undefined;
    }
    this.#empty = 0;
    const { delegations } = this.#ports;
    if (delegations?.isOpen) {
      const outcomes = await this.#orAborted(delegations.outcomes());
      if (outcomes === undefined) return this.#ended()!;
      this.#say(outcomes);
      return undefined;
    }
    const judged = this.#judge.judgeText(text);
    if ("ending" in judged) return judged.ending;
    this.#say(judged.again);
    return undefined;
  }

  /** Something that the runtime says to the model. */
  #say(text: string): void {
    this.#push({ role: "user", text, principal: "runtime", ts: this.#ports.now() });
  }

  #push(message: Msg): void {
    this.#messages.push(message);
    this.#bytes += jsonBytes(message);
  }

  /** Undefined when the turn was told to end first; what comes later is dropped. */
  async #orAborted<T>(work: Promise<T>): Promise<T | undefined> {
    const { signal } = this.#ports;
    work.catch(() => {});
    return await Promise.race([work, aborted(signal).then(() => undefined)]);
  }

  #seal({ status, reason, error, text, value, finish, bug }: Ending): TurnEnd {
    const missing = { content: `It was not answered: the turn ended as ${status}`, ts: this.#ports.now() };
    const last = text ?? this.#lastText();
    return {
      status,
      messages: sealTranscript(this.#messages, missing),
      ...(last === undefined ? {} : { text: last }),
      ...(value === undefined ? {} : { value }),
      usage: this.#usage,
      rounds: this.#rounds,
      tool_calls: this.#toolCalls,
      ...(error === undefined ? {} : { error }),
      ...(finish === undefined ? {} : { finish }),
      ...(reason === undefined ? {} : { reason }),
      ...(bug === undefined ? {} : { bug }),
    };
  }

  #lastText(): string | undefined {
    const last = this.#messages.findLast((message) =>
      message.role === "assistant" && (message.text ?? "").trim() !== ""
    );
    return last?.role === "assistant" ? last.text : undefined;
  }
}

const DEADLINE: Ending = { status: "deadline", reason: "the deadline passed" };

/** @throws what is no failure of the model's but a bug */
function failureOf(error: unknown): Ending {
  const code = errorCodeOf(error);
  if (code === undefined) throw error;
  const { message } = error as Error;
  return { status: "failed", reason: message, error: { code, message } };
}

/** A provider's count: whole, and never less than nothing. */
function count(tokens: number): number {
  return Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0;
}
