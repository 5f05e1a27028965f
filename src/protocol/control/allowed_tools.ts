import { ALLOWED_TOOLS_ROLE, type SeedMessage } from "./spawn_payload.ts";

const MAX_GRANT_CHARACTERS = 64 * 1024;

/**
 * The context with the tool grant at its head: `*`, an exact name, or `prefix*`.
 * Entries of the reserved role that the caller put there are gone. Undefined patterns narrow nothing, none allow nothing.
 */
export function mintAllowedTools(
  context: readonly SeedMessage[],
  patterns: readonly string[] | undefined,
): SeedMessage[] {
  const rest = context.filter(({ role }) => role !== ALLOWED_TOOLS_ROLE);
  if (patterns === undefined) return rest;
  return [{ role: ALLOWED_TOOLS_ROLE, content: JSON.stringify(patterns) }, ...rest];
}

/**
 * The patterns that a context grants; undefined when it does not narrow. A grant that cannot be read, stands elsewhere
 * than at the head or is not the only one allows nothing.
 */
export function readAllowedTools(context: readonly SeedMessage[]): readonly string[] | undefined {
  const grants = context.filter(({ role }) => role === ALLOWED_TOOLS_ROLE);
  if (grants.length === 0) return undefined;
  return grants.length === 1 && grants[0] === context[0] ? parsePatterns(grants[0]!.content) : [];
}

/** Whether the patterns allow the tool. */
export function matchesTool(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name);
}

function parsePatterns(content: string): readonly string[] {
  if (content.length > MAX_GRANT_CHARACTERS) return [];
  try {
    const patterns: unknown = JSON.parse(content);
    if (Array.isArray(patterns) && patterns.every((pattern) => typeof pattern === "string")) return patterns;
  } catch { /* not JSON: nothing is allowed */ }
  return [];
}
