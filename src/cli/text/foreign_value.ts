import { printableLine } from "../../base/mod.ts";

/** What a trace holds is data from others: of whatever type, it is shown made safe, or left out. */

/** The fields of an object; none of anything else. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Record<string, unknown> : {};
}

/** The items of a list; none of anything else. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A value on one line; `?` for none. */
export function text(value: unknown): string {
  if (value === undefined) return "?";
  return printableLine(typeof value === "string" ? value : JSON.stringify(value) ?? "?");
}
