/**
 * A session of the roles `agent` and `turn` whose model is a script: its instruction, and each message of a warm one, is a
 * {@link Playbook}. It speaks the whole protocol: what it hears is decoded as by a real session.
 */
import {
  type BudgetGrant,
  type ControlMsg,
  decodeControl,
  type Intelligence,
  type Msg,
  readAllowedTools,
  sealTranscript,
  type SpawnPayload,
  type SwapIntel,
  swapIntel,
  type ToolAnswer,
  ToolCatalogue,
  type ToolDef,
  type UnknownMessage,
} from "../../protocol/control/mod.ts";
import { encodeFrame, FrameDecoder } from "../../protocol/mod.ts";

/** One turn: the session's own tools, which its supervisor runs, and what its model says, round for round. */
export interface Playbook {
  readonly own?: readonly string[];
  readonly rounds: readonly Round[];
}

/** What comes before a round, and what the model says in it. */
export interface Round {
  /** The lists of its servers as they are from now on. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  readonly health?: {
    readonly all_down: boolean;
    readonly active?: { readonly index: number; readonly transport: string };
  };
  /** Tokens that it asks for first. */
  readonly estimate?: number;
  readonly usage?: readonly [input: number, output: number];
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
}

/** A call of a tool; `gate` is opened before it, `unchecked` goes to the supervisor whatever the catalogue says. */
export interface ScriptedCall {
  readonly name: string;
  readonly gate?: string;
  readonly unchecked?: boolean;
}

/** What a turn came to: said in a `turn_done`, or as a result. */
export interface ScriptedTurn {
  readonly status: string;
  readonly messages: readonly Msg[];
  /** The model it ended with, and the tools that the model was shown in each round. */
  readonly value: { readonly model?: string | undefined; readonly shown: readonly (readonly string[])[] };
}

const say = (message: object) => Deno.stdout.writeSync(encodeFrame(message));
const event = (name: string, fields: object = {}) => say({ type: "event", event: name, fields });
const toolDef = (name: string): ToolDef => ({ name, input_schema: true });

const answers = new Map<number, ToolAnswer | BudgetGrant>();
const replies = new Map<string, string>();
const turns: string[] = [];
let told = Promise.withResolvers<void>();
let cancelled: string | undefined;
let paused = false;
let swap: SwapIntel | undefined;
let intelligence: Intelligence;
let lastId = 0;

/** Until it fits, or the session is cancelled. */
async function until(fits: () => boolean): Promise<void> {
  while (!fits() && cancelled === undefined) await told.promise;
}

function hear(message: ControlMsg | UnknownMessage): void {
  switch (message.type) {
    case "ping":
      say({ type: "pong", seq: message.seq });
      break;
    case "pause":
      paused = true;
      break;
    case "resume":
      paused = false;
      break;
    case "cancel":
      cancelled = message.reason;
      break;
    case "swap_intel":
      swap = message;
      break;
    case "inject":
      if (message.node === undefined) turns.push(message.message);
      else replies.set(message.node, message.message);
      break;
    case "tool_result":
    case "budget_grant":
      answers.set(message.id, message);
  }
}

async function ask(question: object): Promise<ToolAnswer | BudgetGrant | undefined> {
  const id = ++lastId;
  say({ ...question, id });
  await until(() => answers.has(id));
  return answers.get(id);
}

/** Between two rounds it stands still, and takes another model; whether the turn is to run again because of it. */
async function reachBoundary(): Promise<boolean> {
  if (paused) {
    event("loop.paused");
    await until(() => !paused);
    event("loop.resumed");
  }
  if (swap === undefined) return false;
  const { next, report } = swapIntel(intelligence, swap);
  intelligence = next;
  swap = undefined;
  event(report.event, report.fields);
  return report.event === "intel.swap" && report.fields.restart;
}

async function call(
  catalogue: ToolCatalogue,
  { name, gate, unchecked }: ScriptedCall,
  id: string,
): Promise<Msg | undefined> {
  if (gate !== undefined) {
    say({ type: "gate", node: gate, payload: { tool: name } });
    await until(() => replies.has(gate));
    if (cancelled !== undefined) return undefined;
    replies.delete(gate);
    say({ type: "gate_closed", node: gate, via: "reply" });
  }
  const found = catalogue.find(name);
  const answer = (content: string, is_error: boolean): Msg => ({ role: "tool", id, name, content, is_error, ts: 0 });
  if (found?.server !== undefined) return answer(`${found.server} has done ${found.tool.name}`, false);
  if (found === undefined && !unchecked) return answer(`there is no tool ${name}`, true);
  const told = await ask({ type: "tool_request", name, args: {} });
  return told?.type === "tool_result" ? answer(String(told.result), told.is_error) : undefined;
}

/** Gives the status that ends the turn, or nothing when it goes on. */
async function askBudget(estimate: number): Promise<string | undefined> {
  const grant = await ask({ type: "budget_request", estimate });
  if (grant?.type !== "budget_grant") return "cancelled";
  if (!grant.ok) return "exhausted_tokens";
  if (grant.model !== undefined) intelligence = { ...intelligence, model: grant.model };
  return undefined;
}

async function playTurn(catalogue: ToolCatalogue, playbook: Playbook): Promise<ScriptedTurn> {
  const messages: Msg[] = [];
  const shown: string[][] = [];
  const end = (status: string): ScriptedTurn => {
    const { model } = intelligence;
    return { status, messages: sealTranscript(messages, { content: status, ts: 0 }), value: { model, shown } };
  };
  for (let round = 0; round < playbook.rounds.length; round++) {
    if (await reachBoundary()) {
      for (const list of [messages, shown]) list.length = 0;
      round = 0;
    }
    const { lists = {}, health, estimate, usage, text, calls = [] } = playbook.rounds[round]!;
    if (cancelled !== undefined) return end("cancelled");
    for (const [server, names] of Object.entries(lists)) catalogue.replace(server, names.map(toolDef));
    if (health !== undefined) say({ type: "intel_health", ...health });
    const refused = estimate === undefined ? undefined : await askBudget(estimate);
    if (refused !== undefined) return end(refused);
    shown.push(catalogue.offered.map(({ name }) => name));
    event("turn.think", { turn: 0, round });
    const [tokens_in, tokens_out] = usage ?? [0, 0];
    say({ type: "usage", input_tokens: tokens_in, output_tokens: tokens_out });
    event("turn.round", { turn: 0, round, tool_calls: calls.length, tokens_in, tokens_out });
    const tool_calls = calls.map(({ name }, i) => ({ id: `${round}.${i}`, name, arguments: {} }));
    messages.push({ role: "assistant", ...(text !== undefined && { text }), tool_calls, ts: 0 });
    for (const [i, scripted] of calls.entries()) {
      event("turn.tool", { turn: 0, tool: scripted.name, i, of: calls.length });
      const answer = await call(catalogue, scripted, `${round}.${i}`);
      if (answer !== undefined) messages.push(answer);
      if (cancelled !== undefined) return end("cancelled");
    }
  }
  return end("completed");
}

function outcomeOf(turn: ScriptedTurn) {
  return { status: turn.status, partial: turn.status !== "completed", result: turn };
}

/** Lives through its turns and gives its last word. */
async function live(payload: SpawnPayload): Promise<object> {
  const patterns = readAllowedTools(payload.context_seed);
  intelligence = payload.intelligence!;
  turns.push(payload.instruction);
  say({ type: "ready" });
  for (;;) {
    const playbook = JSON.parse(turns.shift()!) as Playbook;
    const turn = await playTurn(new ToolCatalogue(patterns, (playbook.own ?? []).map(toolDef)), playbook);
    if (payload.role === "turn") return { type: "turn_done", turn };
    if (!payload.warm || cancelled !== undefined) return { type: "result", outcome: outcomeOf(turn) };
    say({ type: "turn", outcome: outcomeOf(turn) });
    await until(() => turns.length > 0);
    if (cancelled !== undefined) return { type: "result", outcome: outcomeOf({ ...turn, status: "cancelled" }) };
  }
}

const decoder = new FrameDecoder();
const buffer = new Uint8Array(65_536);
let isStarted = false;
for (let count = await Deno.stdin.read(buffer); count !== null; count = await Deno.stdin.read(buffer)) {
  for (const frame of decoder.push(buffer.subarray(0, count))) {
    const message = decodeControl(frame);
    if (message.type === "spawn" && !isStarted) {
      isStarted = true;
      live(message).then((lastWord) => {
        say(lastWord);
        Deno.exit(0);
      });
    } else hear(message);
  }
  told.resolve();
  told = Promise.withResolvers();
}
Deno.exit(3);
