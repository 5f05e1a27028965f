import { CapsuleError } from "../base/mod.ts";
import { Fields } from "./fields.ts";
import { MAX_CHUNK_BYTES, STREAM_WINDOW_BYTES } from "./stream_window.ts";

/** Name and value of one field; each character of a value is one byte. */
export type HttpField = readonly [name: string, value: string];

/** Most fields of one head, and the most characters of all their names and values. */
export const MAX_HEAD_FIELDS = 256;
export const MAX_HEAD_BYTES = 64 * 1024;

/** Longest path with query, characters. */
export const MAX_PATH_BYTES = 16 * 1024;

/** The head of a request, as its guest is to see it. */
export interface HttpRequestHead {
  readonly method: string;
  readonly scheme: "http" | "https";
  readonly authority: string;
  readonly path_with_query: string;
  readonly headers: readonly HttpField[];
}

/** One request for a fresh instance. Its body, if it has one, follows as chunks. */
export interface HttpCall {
  readonly type: "call";
  readonly id: number;
  readonly request: HttpRequestHead;
  readonly has_body: boolean;
}

/** Which of the two bodies of a call. */
export type HttpStream = "request" | "response";

/** A piece of a body, in base64; `end` is true on the last one, which may be empty. */
export interface StreamChunk {
  readonly type: "chunk";
  readonly id: number;
  readonly stream: HttpStream;
  readonly data: string;
  readonly end: boolean;
}

/** The receiver of a body has taken so many bytes of it. */
export interface StreamCredit {
  readonly type: "credit";
  readonly id: number;
  readonly stream: HttpStream;
  readonly bytes: number;
}

/** What a serving cell is told after its load. */
export type ToServingCell =
  | HttpCall
  | StreamChunk
  | StreamCredit
  | { readonly type: "cancel"; readonly id: number };

/** The head of a response. */
export interface HttpResponseHead {
  readonly type: "head";
  readonly id: number;
  readonly status: number;
  readonly headers: readonly HttpField[];
}

/** Why a call gave no whole response. */
export interface CallError {
  readonly kind: "trap" | "exit" | "limit" | "memory" | "no_response" | "cancelled";
  readonly detail: string;
}

/** What a serving cell says of its calls, beside `done`. */
export type FromServingCell =
  | HttpResponseHead
  | StreamChunk
  | StreamCredit
  | { readonly type: "log"; readonly id: number; readonly stream: "stdout" | "stderr"; readonly text: string };

/** Longest text of one `log`, characters. */
export const MAX_LOG_CHARACTERS = 8_192;

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// deno-lint-ignore no-control-regex -- exactly what no value may hold
const NO_VALUE = /[^\x09\x20-\x7e\x80-\xff]/;

/** Whether a name and a value may stand in a head: a token, and bytes without CR, LF, NUL or other controls. */
export function isHttpField(name: string, value: string): boolean {
  return NAME.test(name) && !NO_VALUE.test(value);
}

/** Decodes `call` with a `request`. @throws `protocol.bad_field` */
export function decodeHttpCall(fields: Fields): HttpCall {
  const request = fields.object("request");
  return {
    type: "call",
    id: fields.integer("id"),
    request: {
      method: request.string("method", { max: 64 }),
      scheme: request.oneOf("scheme", ["http", "https"] as const),
      authority: request.string("authority", { max: 512 }),
      path_with_query: request.string("path_with_query", { max: MAX_PATH_BYTES }),
      headers: decodeHeaders(request),
    },
    has_body: fields.boolean("has_body"),
  };
}

/** @throws `protocol.bad_field` */
export function decodeHead(fields: Fields): HttpResponseHead {
  const status = fields.integer("status");
  if (status < 200 || status > 599) throw bad("message.status is not 200 to 599");
  return { type: "head", id: fields.integer("id"), status, headers: decodeHeaders(fields) };
}

/** @throws `protocol.bad_field` */
export function decodeChunk(fields: Fields): StreamChunk {
  const data = fields.string("data", { max: Math.ceil(MAX_CHUNK_BYTES / 3) * 4 });
  return { type: "chunk", ...decodeStream(fields), data, end: fields.boolean("end") };
}

/** @throws `protocol.bad_field` */
export function decodeCredit(fields: Fields): StreamCredit {
  const bytes = fields.integer("bytes");
  if (bytes > STREAM_WINDOW_BYTES) throw bad(`message.bytes is more than ${STREAM_WINDOW_BYTES}`);
  return { type: "credit", ...decodeStream(fields), bytes };
}

/** @throws `protocol.bad_field` */
export function decodeLog(fields: Fields): FromServingCell {
  const stream = fields.oneOf("stream", ["stdout", "stderr"] as const);
  return { type: "log", id: fields.integer("id"), stream, text: fields.string("text", { max: MAX_LOG_CHARACTERS }) };
}

/** @throws `protocol.bad_field` */
export function decodeCallError(fields: Fields): CallError {
  const kind = fields.oneOf("kind", ["trap", "exit", "limit", "memory", "no_response", "cancelled"] as const);
  return { kind, detail: fields.string("detail", { max: 4_096 }) };
}

/** A piece of a body as the text of a chunk. */
export function encodeChunkData(piece: Uint8Array): string {
  return piece.toBase64();
}

/** The bytes of a chunk. @throws `protocol.bad_field` */
export function decodeChunkData(chunk: StreamChunk): Uint8Array {
  try {
    return Uint8Array.fromBase64(chunk.data);
  } catch {
    throw bad("message.data is not base64");
  }
}

function decodeStream(fields: Fields): { id: number; stream: HttpStream } {
  return { id: fields.integer("id"), stream: fields.oneOf("stream", ["request", "response"] as const) };
}

function decodeHeaders(fields: Fields): HttpField[] {
  let size = 0;
  const headers = fields.list("headers", (item, path): HttpField => {
    const [name, value] = Array.isArray(item) && item.length === 2 ? item : [];
    if (typeof name !== "string" || typeof value !== "string" || !isHttpField(name, value)) {
      throw bad(`${path} is not a field of a head`);
    }
    size += name.length + value.length;
    return [name, value];
  }, { max: MAX_HEAD_FIELDS });
  if (size > MAX_HEAD_BYTES) throw bad(`message.headers is more than ${MAX_HEAD_BYTES} characters`);
  return headers;
}

function bad(what: string): CapsuleError {
  return new CapsuleError("protocol.bad_field", `Read a message: ${what}`);
}
