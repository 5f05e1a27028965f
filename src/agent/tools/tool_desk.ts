import { type ToolCall, ToolCatalogue, type ToolDef } from "../../protocol/control/mod.ts";
import type { LoopTool, ToolReply } from "../loop/mod.ts";

/** A tool of a session, and what it does. */
export interface DeskTool extends LoopTool {
  /** Rejects only for a bug. */
  run(args: unknown, signal: AbortSignal): Promise<ToolReply>;
}

/** The tools of a turn, narrowed by the session's tool grant: what is shown, and the same again when one is called. */
export class ToolDesk {
  readonly #catalogue: ToolCatalogue;
  readonly #tools: ReadonlyMap<string, DeskTool>;

  /** `patterns` as `readAllowedTools` gives them. Of two tools of a name the first counts. */
  constructor(patterns: readonly string[] | undefined, tools: readonly DeskTool[]) {
    this.#tools = new Map([...tools].reverse().map((tool) => [tool.def.name, tool]));
    this.#catalogue = new ToolCatalogue(patterns, tools.map(({ def }) => def));
  }

  /** What the loop is told: nothing that could not be posted to its thread. */
  get offered(): readonly LoopTool[] {
    return this.#catalogue.offered.map(({ name }) => {
      const { def, mutates, timeoutMs } = this.#tools.get(name)!;
      return { def, mutates, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    });
  }

  /** Makes a call. The loop has checked its arguments; that it may be made at all is checked here. */
  async call({ name, arguments: args }: ToolCall, signal: AbortSignal): Promise<ToolReply> {
    const tool = this.#catalogue.find(name) === undefined ? undefined : this.#tools.get(name);
    if (tool === undefined) return refusal(`Call ${name}: there is no such tool`);
    return await tool.run(args, signal);
  }
}

/** A reply in the runtime's own words. */
export function refusal(content: string): ToolReply {
  return { content, isError: true, isForeign: false };
}

/** A tool that the supervisor runs, or whoever stands above it. */
export function askedTool(
  def: ToolDef,
  mutates: boolean,
  ask: (name: string, args: unknown) => Promise<{ readonly result: unknown; readonly is_error: boolean }>,
): DeskTool {
  return {
    def,
    mutates,
    async run(args) {
      const { result, is_error } = await ask(def.name, args);
      const content = typeof result === "string" ? result : JSON.stringify(result);
      return { content, isError: is_error, isForeign: true };
    },
  };
}
