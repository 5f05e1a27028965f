import { SESSION_STATUSES, type SessionStatus } from "../../base/mod.ts";
import { Fields } from "../fields.ts";
import { opaqueJson } from "./opaque_json.ts";
import { LINE, TEXT } from "./text_bounds.ts";

/** What a warm session asks to be told to do later. */
export interface ScheduledInstruction {
  readonly after_ms: number;
  readonly instruction: string;
}

/** What a warm session asks to be woken for. */
export interface Subscription {
  readonly uri: string;
  readonly action: string;
  readonly condition?: string;
}

/** What a task came to, as its session tells it. */
export interface TaskOutcome {
  readonly status: SessionStatus;
  /** The result is not the whole one. */
  readonly partial: boolean;
  /** A text (see {@link distil}) or any JSON value. */
  readonly result: unknown;
  readonly scheduled: readonly ScheduledInstruction[];
  readonly subscriptions: readonly Subscription[];
}

/** The longest text that is a distilled result, bytes, without the mark of the cut. */
export const MAX_DISTILLED_BYTES = 8_000;

const CUT = " … [truncated]";
const encoder = new TextEncoder();

/**
 * A result for whoever asked: a text is cut to {@link MAX_DISTILLED_BYTES} between two characters and marked, anything
 * else stays whole. What was distilled already is left as it is.
 */
export function distil(result: unknown): unknown {
  if (typeof result !== "string" || isDistilled(result)) return result;
  return `${result.slice(0, fittingLength(result))}${CUT}`;
}

/** @throws `protocol.bad_field` */
export function decodeTaskOutcome(fields: Fields): TaskOutcome {
  return {
    status: fields.oneOf("status", SESSION_STATUSES),
    partial: fields.boolean("partial"),
    result: opaqueJson(fields, "result", { maxBytes: TEXT.max }),
    scheduled: fields.orElse("scheduled", [], (name) => fields.list(name, scheduledItem, { max: 1_024 })),
    subscriptions: fields.orElse("subscriptions", [], (name) => fields.list(name, subscriptionItem, { max: 1_024 })),
  };
}

function isDistilled(text: string): boolean {
  const kept = text.endsWith(CUT) ? text.slice(0, -CUT.length) : text;
  return fittingLength(kept) === kept.length;
}

/** How much of the text, in its own units, has that many bytes: `encodeInto` writes no part of a character. */
function fittingLength(text: string): number {
  return encoder.encodeInto(text, new Uint8Array(MAX_DISTILLED_BYTES)).read;
}

function scheduledItem(item: unknown, path: string): ScheduledInstruction {
  const fields = new Fields(item, path);
  return { after_ms: fields.integer("after_ms"), instruction: fields.string("instruction") };
}

function subscriptionItem(item: unknown, path: string): Subscription {
  const fields = new Fields(item, path);
  return {
    uri: fields.string("uri", LINE),
    action: fields.string("action"),
    ...fields.optional("condition", (name) => fields.string(name)),
  };
}
