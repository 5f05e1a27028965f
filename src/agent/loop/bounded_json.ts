import { MAX_JSON_DEPTH } from "../../protocol/control/mod.ts";

/** Whether the value nests no deeper than {@link MAX_JSON_DEPTH}. Without recursion: the depth is what is being checked. */
export function isShallow(root: unknown): boolean {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) return false;
    level = level.flatMap((value) => typeof value === "object" && value !== null ? Object.values(value) : []);
  }
  return true;
}

/** Bytes of the value as JSON in UTF-8. */
export function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value) ?? "").length;
}
