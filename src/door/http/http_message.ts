import type { Field } from "../../http1/mod.ts";

/** One request, its head checked; the body is still on its way. */
export interface HttpRequest {
  readonly method: string;
  /** As it was sent: percent signs and all, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** A field's value; several are joined with `, `. */
  header(name: string): string | undefined;
  readonly hasBody: boolean;
  /** How long the body is to be, when it says so. */
  readonly bodyBytes: number | undefined;
  /** All of the body. @throws {BodyFault} */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** Says that its client has shown who it is: its connection counts as a known one from now on. */
  vouch(): void;
  /** Aborted when the client cannot get the answer any more. */
  readonly signal: AbortSignal;
}

/** Why a body cannot be had. */
export class BodyFault extends Error {
  override readonly name = "BodyFault";
  readonly kind: "too_large" | "broken";

  constructor(kind: "too_large" | "broken", message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Writes a body piece by piece, until it returns. `write` settles when the piece is on its way. */
export type WriteBody = (write: (bytes: Uint8Array) => Promise<void>) => Promise<void>;

/** What is answered: its length and what a door says with all it answers are added. */
export interface HttpReply {
  readonly status: number;
  readonly fields: readonly Field[];
  readonly body: Uint8Array | WriteBody;
  /** Called once when nothing of it is held any more: its client has taken it, or is gone. */
  readonly onGone?: () => void;
}

const encoder = new TextEncoder();

/** A reply of JSON. */
export function jsonReply(status: number, value: unknown, fields: readonly Field[] = []): HttpReply {
  return textReply(status, JSON.stringify(value), "application/json", fields);
}

/** A reply of text. */
export function textReply(status: number, text: string, type: string, fields: readonly Field[] = []): HttpReply {
  return { status, fields: [["content-type", type], ...fields], body: encoder.encode(text) };
}

/** A refusal of the door's own: `{"error": "word"}`, and a sentence when there is more to say. */
export function refusalReply(
  status: number,
  error: string,
  message?: string,
  fields: readonly Field[] = [],
): HttpReply {
  return jsonReply(status, { error, ...(message !== undefined && { message }) }, fields);
}
