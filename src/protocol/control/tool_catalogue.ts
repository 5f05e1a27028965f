import { matchesTool } from "./allowed_tools.ts";
import type { ToolDef } from "./turn.ts";

/** A tool that a session may call, and whose it is. */
export interface OfferedTool {
  /** As the model knows it: the session's own by its name, a server's as `server__tool`. */
  readonly name: string;
  /** Absent for the session's own. */
  readonly server?: string;
  /** As its owner knows it. */
  readonly tool: ToolDef;
}

/**
 * The tools of a session, narrowed by its grant: what its model is shown, and the
 * same again when something is called. A server's list may change at any time, and can add nothing that the grant hides;
 * a name that two would have is the session's own, then the first server's.
 */
export class ToolCatalogue {
  readonly #patterns: readonly string[] | undefined;
  readonly #own: readonly ToolDef[];
  readonly #lists = new Map<string, readonly ToolDef[]>();
  #offered: ReadonlyMap<string, OfferedTool>;

  /** `patterns` as `readAllowedTools` gives them: undefined narrows nothing, none allow nothing. */
  constructor(patterns: readonly string[] | undefined, own: readonly ToolDef[] = []) {
    this.#patterns = patterns;
    this.#own = own;
    this.#offered = this.#narrow();
  }

  /** What the model is shown. */
  get offered(): readonly OfferedTool[] {
    return [...this.#offered.values()];
  }

  /** Takes a server's list as it is now, in place of the one before. */
  replace(server: string, tools: readonly ToolDef[]): void {
    this.#lists.set(server, tools);
    this.#offered = this.#narrow();
  }

  /** What is called by that name; undefined for what is not (or no longer) there, and alike for what the grant hides. */
  find(name: string): OfferedTool | undefined {
    return this.#offered.get(name);
  }

  #narrow(): Map<string, OfferedTool> {
    const offered = new Map<string, OfferedTool>();
    const offer = (found: OfferedTool) => {
      const isGranted = this.#patterns === undefined || matchesTool(this.#patterns, found.name);
      if (isGranted && !offered.has(found.name)) offered.set(found.name, found);
    };
    for (const tool of this.#own) offer({ name: tool.name, tool });
    for (const [server, tools] of this.#lists) {
      for (const tool of tools) offer({ name: `${server}__${tool.name}`, server, tool });
    }
    return offered;
  }
}
