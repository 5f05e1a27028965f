/**
 * Keys that are designed and whose work has not landed: refused by name, so that nobody believes they bind anything.
 * Paths are dotted, `[]` for any element.
 */
const LATER_KEYS: ReadonlySet<string> = new Set([
  "lifecycle.after_task",
  "state",
  "mcp_servers",
  "hooks",
  "context",
  "inference.compaction",
  "grants.plan",
  "grants.limits.max_turns",
  "grants.limits.max_steps",
  "ceiling.plan",
  "ceiling.limits.max_turns",
  "ceiling.limits.max_steps",
]);

/** Whether the key at this dotted path will mean something one day. */
export function isLaterKey(path: string): boolean {
  return LATER_KEYS.has(path);
}
