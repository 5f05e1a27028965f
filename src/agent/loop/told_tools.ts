import type { ToolDef } from "../../protocol/control/mod.ts";
import type { LoopTool } from "./ports.ts";

const MAX_DESCRIPTION_LENGTH = 200;

/** A publisher's description as a model is told it: one line of 200 characters, none of them invisible. */
export function plainDescription(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  const characters = Array.from(line);
  return characters.length <= MAX_DESCRIPTION_LENGTH
    ? line
    : `${characters.slice(0, MAX_DESCRIPTION_LENGTH - 1).join("")}…`;
}

/** What the model is told of the tools. */
export function toldTools(tools: readonly LoopTool[]): readonly ToolDef[] {
  return tools.map(({ def: { name, description, input_schema } }) => ({
    name,
    ...(description === undefined ? {} : { description: plainDescription(description) }),
    input_schema,
  }));
}
