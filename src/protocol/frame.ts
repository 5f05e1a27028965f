import { CapsuleError, type ErrorCode } from "../base/mod.ts";
import { holdsTooManyValues, MAX_FRAME_VALUES } from "./value_count.ts";

/** The largest payload of one frame, bytes, inclusive. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const PREFIX_BYTES = 4;
/** What is set aside for a payload before any of it has come; it grows as the bytes come. */
const FIRST_ALLOCATION_BYTES = 64 * 1024;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * One message as one frame: 4 bytes big-endian length, then JSON in UTF-8.
 *
 * @throws `protocol.frame_too_large` before a byte is written, when the payload is over {@link MAX_FRAME_BYTES} or has
 *   more than {@link MAX_FRAME_VALUES} values.
 */
export function encodeFrame(message: object): Uint8Array {
  const payload = encoder.encode(JSON.stringify(message));
  if (payload.length > MAX_FRAME_BYTES) {
    throw new CapsuleError(
      "protocol.frame_too_large",
      `Write a frame: ${payload.length} bytes, at most ${MAX_FRAME_BYTES} are allowed`,
    );
  }
  if (holdsTooManyValues(payload)) {
    throw new CapsuleError("protocol.frame_too_large", `Write a frame: more than ${MAX_FRAME_VALUES} values in it`);
  }
  const frame = new Uint8Array(PREFIX_BYTES + payload.length);
  new DataView(frame.buffer).setUint32(0, payload.length);
  frame.set(payload, PREFIX_BYTES);
  return frame;
}

/**
 * Bytes to messages, wherever the chunks are cut. Knows nothing of sockets. A fault names the rule and the byte
 * offset in the stream, never the payload; after one the decoder is spent and says the same again.
 */
export class FrameDecoder {
  readonly #prefix = new Uint8Array(PREFIX_BYTES);
  #prefixFilled = 0;
  #payload: Uint8Array<ArrayBuffer> | undefined;
  #payloadFilled = 0;
  /** Bytes of the stream before the payload that is being read, or before the next prefix byte. */
  #offset = 0;
  #payloadOffset = 0;
  #fault: CapsuleError | undefined;

  /** Where in the stream the payload of the message that came last began, for a fault that is found in it. */
  get payloadOffset(): number {
    return this.#payloadOffset;
  }

  /**
   * The messages that end in this chunk, in order. The caller's chunk is not kept. To leave the loop early is to give up
   * the rest of the chunk.
   *
   * @throws `protocol.frame_too_large` when a declared length is over {@link MAX_FRAME_BYTES}, before anything is
   *   allocated, and when a payload has more than {@link MAX_FRAME_VALUES} values, before it is parsed;
   *   `protocol.not_json` when a payload is not one JSON object in UTF-8.
   */
  *push(chunk: Uint8Array): Generator<Record<string, unknown>> {
    if (this.#fault) throw this.#fault;
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#payload === undefined) {
        rest = this.#takePrefix(rest);
        if (this.#prefixFilled < PREFIX_BYTES) return;
        const length = this.#declaredLength();
        if (rest.length >= length) {
          const payload = rest.subarray(0, length);
          rest = rest.subarray(length);
          yield this.#decode(payload);
          continue;
        }
        this.#payload = new Uint8Array(Math.min(length, FIRST_ALLOCATION_BYTES));
      }
      rest = this.#takePayload(rest);
      if (this.#payloadFilled === this.#declaredLength()) yield this.#decode(this.#payload);
    }
  }

  /**
   * Says that the stream has ended.
   *
   * @throws `protocol.truncated` when it ended inside a prefix or a payload.
   */
  end(): void {
    if (this.#fault) throw this.#fault;
    if (this.#prefixFilled === 0) return;
    const inside = this.#payload ? "payload" : "length";
    const at = this.#offset + this.#payloadFilled;
    throw this.#fail("protocol.truncated", `the stream ended inside a ${inside}, at byte ${at}`);
  }

  #fail(code: ErrorCode, what: string): CapsuleError {
    return this.#fault = new CapsuleError(code, `Read a frame: ${what}`);
  }

  #takePrefix(chunk: Uint8Array): Uint8Array {
    const taken = chunk.subarray(0, PREFIX_BYTES - this.#prefixFilled);
    this.#prefix.set(taken, this.#prefixFilled);
    this.#prefixFilled += taken.length;
    this.#offset += taken.length;
    return chunk.subarray(taken.length);
  }

  #declaredLength(): number {
    const length = new DataView(this.#prefix.buffer).getUint32(0);
    if (length > MAX_FRAME_BYTES) {
      throw this.#fail(
        "protocol.frame_too_large",
        `${length} bytes declared at byte ${this.#offset - PREFIX_BYTES}, at most ${MAX_FRAME_BYTES} are allowed`,
      );
    }
    return length;
  }

  /** A length that is declared and never sent costs next to nothing: the buffer is at most twice what has come. */
  #takePayload(chunk: Uint8Array): Uint8Array {
    const length = this.#declaredLength();
    const taken = chunk.subarray(0, length - this.#payloadFilled);
    const filled = this.#payloadFilled + taken.length;
    if (filled > this.#payload!.length) {
      this.#payload = new Uint8Array(this.#payload!.buffer.transfer(Math.min(length, 2 * filled)));
    }
    this.#payload!.set(taken, this.#payloadFilled);
    this.#payloadFilled = filled;
    return chunk.subarray(taken.length);
  }

  #decode(payload: Uint8Array): Record<string, unknown> {
    const at = this.#payloadOffset = this.#offset;
    this.#offset += payload.length;
    this.#payload = undefined;
    this.#payloadFilled = 0;
    this.#prefixFilled = 0;
    if (holdsTooManyValues(payload)) {
      throw this.#fail("protocol.frame_too_large", `more than ${MAX_FRAME_VALUES} values, payload at byte ${at}`);
    }
    let value: unknown;
    try {
      value = JSON.parse(decoder.decode(payload));
    } catch {
      throw this.#fail("protocol.not_json", `not JSON in UTF-8, payload at byte ${at}`);
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.#fail("protocol.not_json", `not a JSON object, payload at byte ${at}`);
    }
    return value as Record<string, unknown>;
  }
}
