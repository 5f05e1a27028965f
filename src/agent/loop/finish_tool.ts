import type { Finish, ToolDef } from "../../protocol/control/mod.ts";

/** The name of the tool that ends a turn. */
export const FINISH = "finish";

const STATUSES = ["completed", "failed", "refused"] as const;

/** What the model is told of it. */
export const FINISH_TOOL: ToolDef = {
  name: FINISH,
  description: "Ends the task with its result. Takes effect after the other calls of the same round.",
  input_schema: {
    type: "object",
    properties: {
      output: { description: "The result: a text, or the JSON value that was asked for." },
      status: { enum: STATUSES, description: "Default completed." },
      reason: { type: "string", maxLength: 2_000, description: "Why, when it did not complete." },
    },
    required: ["output"],
    additionalProperties: false,
  },
};

/** What checked arguments of the tool say. */
export function readFinish(args: unknown): Finish {
  const { output, status, reason } = args as { output: unknown; status?: Finish["status"]; reason?: string };
  return { status: status ?? "completed", output, reason: reason ?? "", exit: false };
}
