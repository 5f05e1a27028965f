import { fence } from "../../base/mod.ts";
import { ALLOWED_TOOLS_ROLE, type Msg, type SeedMessage } from "../../protocol/control/mod.ts";

/** The context that a parent chose, as the beginning of a transcript; its words for the system are apart. */
export interface SeededContext {
  readonly system: readonly string[];
  readonly messages: readonly Msg[];
}

/** What a parent gave along; the tool grant is no part of it. What came from a tool is data here, too. */
export function seedContext(seed: readonly SeedMessage[], ts: number): SeededContext {
  const system: string[] = [];
  const messages: Msg[] = [];
  for (const { role, content } of seed) {
    if (role === ALLOWED_TOOLS_ROLE) continue;
    if (role === "system") system.push(content);
    else if (role === "user") messages.push({ role, text: content, ts });
    else if (role === "assistant") messages.push({ role, text: content, tool_calls: [], ts });
    else messages.push({ role: "user", text: fence({ kind: "tool", name: "context" }, content), ts });
  }
  return { system, messages };
}
