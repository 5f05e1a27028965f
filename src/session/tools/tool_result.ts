import { printableLine } from "../../base/mod.ts";
import type { CallFailure } from "../http/http_call.ts";

/** Why a tool did not answer by itself. */
export type ToolFailure =
  | "trap"
  | "exit"
  | "limit"
  | "memory"
  | "no_answer"
  | "timeout"
  | "cancelled"
  | "interrupted"
  | "too_large"
  | "unavailable";

/** What became of a call. */
export interface ToolResult {
  /** The tool's own text, as it is; with `failure` the runtime's, on one line. */
  readonly content: string;
  readonly isError: boolean;
  readonly failure?: ToolFailure;
}

const FAILURES: Readonly<Record<CallFailure["failed"], ToolFailure>> = {
  trap: "trap",
  exit: "exit",
  limit: "limit",
  memory: "memory",
  no_response: "no_answer",
  cancelled: "cancelled",
  deadline: "timeout",
  cell_lost: "interrupted",
  overloaded: "unavailable",
  body_too_large: "too_large",
  client_gone: "cancelled",
  draining: "unavailable",
};

/** A failure of the runtime's, or one that it saw, as a result for whoever called. */
export function failedResult(tool: string, { failed, detail }: CallFailure): ToolResult {
  const failure = FAILURES[failed];
  return { content: `[tool ${tool}] ${failure}: ${printableLine(detail, 1_000)}`, isError: true, failure };
}
