import type { ComponentTool, ToolCells, ToolResult } from "../../session/tools/mod.ts";
import type { ToolReply } from "../loop/mod.ts";
import type { DeskTool } from "./tool_desk.ts";

/** How a call of a component's ended where its text may be the component's own. */
const OWN_WORDS: readonly (string | undefined)[] = [undefined, "trap", "exit"];

/** The tools as the loop calls them. */
export function deskTools(cells: Pick<ToolCells, "tools" | "call">): DeskTool[] {
  return cells.tools.map((tool) => ({
    def: defOf(tool),
    mutates: tool.mutates,
    async run(args, signal) {
      return replyOf(await cells.call(tool.name, JSON.stringify(args), { signal }));
    },
  }));
}

function defOf({ name, description, inputSchema }: ComponentTool): DeskTool["def"] {
  return { name, description, input_schema: inputSchema };
}

function replyOf({ content, isError, failure }: ToolResult): ToolReply {
  const isForeign = OWN_WORDS.includes(failure);
  return { content, isError, isForeign, ...(failure === undefined ? {} : { failure }) };
}
