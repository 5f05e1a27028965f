import type { TraceEvent } from "../../records/mod.ts";
import { text } from "../text/foreign_value.ts";

/** What an event of an agent says, in words; undefined for an event of another kind. */
export function agentSummary(event: TraceEvent): string | undefined {
  return Object.hasOwn(SUMMARIES, event.event) ? SUMMARIES[event.event]!(event) : undefined;
}

/** What a model said, and what went in and out of a tool: there only when the capsule's trace keeps it. */
export function contentLines(event: TraceEvent): string[] {
  if (event.event === "inference") return shown(event, ["text"]);
  return event.event === "tool_call" ? shown(event, ["arguments", "content"]) : [];
}

const SUMMARIES: Readonly<Record<string, (event: TraceEvent) => string>> = {
  task_start: ({ task_id, origin, principal, is_rerun }) =>
    `${text(task_id)} of ${text(origin)} (${text(principal)})${is_rerun === true ? ", once more" : ""}`,
  inference: (event) => `${place(event)}: ${tokens(event)}, ${outcome(event)}, ${duration(event)}`,
  tool_call: (event) =>
    `${text(event["tool"])} ${event["is_error"] === true ? failed(event) : "ok"}, ${duration(event)}`,
  delegation_start: ({ capsule, version, child_session_id, deadline_ms }) =>
    `${text(capsule)} ${text(version)} as ${text(child_session_id)}, deadline ${text(deadline_ms)} ms`,
  delegation: (event) => `${text(event["child_session_id"])} ${text(event["status"])}, ${duration(event)}`,
  task_end: (event) => {
    const { state, status, reason } = event;
    const how = status === undefined || status === state ? "" : ` (${text(status)})`;
    return `${text(state)}${how}, ${duration(event)}${reason === undefined ? "" : `: ${text(reason)}`}`;
  },
};

function place({ turn, round, model }: TraceEvent): string {
  const number = (count: unknown) => typeof count === "number" ? count + 1 : text(count);
  return `turn ${number(turn)} round ${number(round)}${model === undefined ? "" : ` ${text(model)}`}`;
}

function tokens({ input_tokens, output_tokens, usage_missing }: TraceEvent): string {
  return usage_missing === true ? "tokens not told" : `${text(input_tokens)} tokens in, ${text(output_tokens)} out`;
}

function outcome({ stop, tool_calls }: TraceEvent): string {
  if (typeof tool_calls === "number" && tool_calls > 0) return tool_calls === 1 ? "1 call" : `${tool_calls} calls`;
  return text(stop);
}

function failed({ failure }: TraceEvent): string {
  return failure === undefined ? "failed" : `failed (${text(failure)})`;
}

function duration({ duration_ms }: TraceEvent): string {
  return `${text(duration_ms)} ms`;
}

function shown(event: TraceEvent, names: readonly string[]): string[] {
  return names.filter((name) => event[name] !== undefined).map((name) => `${name}: ${text(event[name])}`);
}
