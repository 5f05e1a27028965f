import { fence, printableLine, withoutFences } from "../../base/mod.ts";
import type { Msg, ToolCall } from "../../protocol/control/mod.ts";
import { boundedText, MAX_CONTENT_BYTES } from "./bounded_content.ts";
import type { LoopPorts, LoopTool, ToolReply } from "./ports.ts";
import { SchemaCheck } from "./schema_check.ts";

/** Calls of a round that run at the same time. */
const MAX_CONCURRENT = 8;

type ToolMsg = Extract<Msg, { role: "tool" }>;

/** What a round of calls needs. */
export interface ToolRound {
  readonly round: number;
  readonly calls: readonly ToolCall[];
  readonly tools: readonly LoopTool[];
  readonly ports: LoopPorts;
}

/**
 * Makes the calls of one round, and gives what came of each in their order: those that mutate one after the other and
 * alone, what stands between them together. When the turn is to end, what has no answer yet has none here.
 *
 * @throws whatever a bug of the runtime throws
 */
export async function callTools(round: ToolRound): Promise<(ToolMsg | undefined)[]> {
  const { calls, ports: { signal } } = round;
  const results: (ToolMsg | undefined)[] = calls.map(() => undefined);
  const work = async (i: number) => {
    const result = await callOne(round, i);
    if (!signal.aborted) results[i] = result;
  };
  for (const group of groupsOf(round)) {
    if (signal.aborted) break;
    await Promise.race([inLanes(group, work, signal), aborted(signal)]);
  }
  return [...results];
}

/** The indexes that run together: a call that mutates by itself, behind all before it and before all behind it. */
function groupsOf({ calls, tools }: Pick<ToolRound, "calls" | "tools">): number[][] {
  const groups: number[][] = [];
  let together: number[] | undefined;
  for (const [i, { name }] of calls.entries()) {
    if (tools.find(({ def }) => def.name === name)?.mutates) {
      groups.push([i]);
      together = undefined;
    } else if (together === undefined) groups.push(together = [i]);
    else together.push(i);
  }
  return groups;
}

async function inLanes(group: readonly number[], work: (i: number) => Promise<void>, signal: AbortSignal) {
  const queue = [...group];
  const lane = async () => {
    for (let i = queue.shift(); i !== undefined && !signal.aborted; i = queue.shift()) await work(i);
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, group.length) }, lane));
}

async function callOne({ round, calls, tools, ports }: ToolRound, i: number): Promise<ToolMsg> {
  const call = calls[i]!;
  ports.emit({ kind: "tool", round, call, i, of: calls.length });
  const startedAt = ports.now();
  const tool = tools.find(({ def }) => def.name === call.name);
  const fault = tool === undefined ? unknownTool(call.name, tools) : findArgumentFault(tool, call.arguments);
  const reply = fault === undefined ? await withinTime(tool!, call, ports) : refusal(fault);
  const content = contentOf(call.name, reply);
  const ms = ports.now() - startedAt;
  const failure = reply.failure === undefined ? {} : { failure: reply.failure };
  ports.emit({ kind: "tool_end", round, call, i, isError: reply.isError, ms, content, ...failure });
  return { role: "tool", id: call.id, name: call.name, content, is_error: reply.isError, ts: ports.now() };
}

/** What is wrong with the arguments of a call, in words for a model; undefined when nothing is. */
export function findArgumentFault({ def }: Pick<LoopTool, "def">, args: unknown): string | undefined {
  if (typeof args === "string") return `Call ${def.name}: the arguments are not JSON`;
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return `Call ${def.name}: the arguments are no object`;
  }
  const fault = new SchemaCheck(def.input_schema).findFault(args);
  return fault === undefined ? undefined : `Call ${def.name}: the arguments do not fit: ${fault}`;
}

function unknownTool(name: string, tools: readonly LoopTool[]): string {
  const names = tools.slice(0, 64).map(({ def }) => def.name).join(", ");
  return `Call ${printableLine(name, 64)}: there is no such tool, there are: ${names || "none"}`;
}

async function withinTime(tool: LoopTool, call: ToolCall, ports: LoopPorts): Promise<ToolReply> {
  const { timeoutMs } = tool;
  if (timeoutMs === undefined) return await ports.tools.call(call, ports.signal);
  const stop = new AbortController();
  const overdue = ports.sleep(timeoutMs).then(() => {
    stop.abort("timeout");
    return { ...refusal(`Call ${call.name}: it did not answer within ${timeoutMs} ms`), failure: "timeout" };
  });
  return await Promise.race([ports.tools.call(call, AbortSignal.any([ports.signal, stop.signal])), overdue]);
}

function refusal(content: string): ToolReply {
  return { content, isError: true, isForeign: false };
}

/** As the model reads it. On one of the wires nothing else says that a tool failed. */
function contentOf(name: string, reply: ToolReply): string {
  const { content, isError, isForeign, from = { kind: "tool", name }, note } = reply;
  const { text, cut } = boundedText(content, MAX_CONTENT_BYTES);
  // A refusal is the runtime's own word, but quotes what manifests and schemas of others say.
  const own = isError ? withoutFences(text) : text;
  const fenced = isForeign ? fence(from, text) : own;
  const head = note === undefined ? isForeign && isError ? "The tool failed:\n" : "" : `${withoutFences(note)}\n`;
  const body = `${head}${fenced}`;
  return cut === undefined ? body : `${body}\n[cut at ${cut.kept} of ${cut.bytes} bytes]`;
}

/** Settles when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
