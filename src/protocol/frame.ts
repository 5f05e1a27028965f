import { CapsuleError } from "../base/mod.ts";

/** The largest payload of one frame, bytes, inclusive (control protocol §1). */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const PREFIX_BYTES = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * One message as one frame: 4 bytes big-endian length, then JSON in UTF-8 (control protocol §1).
 *
 * @throws `protocol.frame_too_large` before a byte is written, when the payload is over {@link MAX_FRAME_BYTES}.
 */
export function encodeFrame(message: object): Uint8Array {
  const payload = encoder.encode(JSON.stringify(message));
  if (payload.length > MAX_FRAME_BYTES) {
    throw new CapsuleError(
      "protocol.frame_too_large",
      `Write a frame: ${payload.length} bytes, at most ${MAX_FRAME_BYTES} are allowed`,
    );
  }
  const frame = new Uint8Array(PREFIX_BYTES + payload.length);
  new DataView(frame.buffer).setUint32(0, payload.length);
  frame.set(payload, PREFIX_BYTES);
  return frame;
}

/**
 * Bytes to messages, wherever the chunks are cut. Knows nothing of sockets. A fault names the rule and the byte
 * offset in the stream, never the payload; after one the decoder is spent.
 */
export class FrameDecoder {
  #prefix = new Uint8Array(PREFIX_BYTES);
  #prefixFilled = 0;
  #payload: Uint8Array | undefined;
  #payloadFilled = 0;
  #offset = 0;
  #payloadOffset = 0;

  /** Where in the stream the payload of the message that came last began, for a fault that is found in it. */
  get payloadOffset(): number {
    return this.#payloadOffset;
  }

  /**
   * The messages that end in this chunk, in order. The caller's chunk is not kept.
   *
   * @throws `protocol.frame_too_large` when a declared length is over {@link MAX_FRAME_BYTES}, before anything is
   *   allocated; `protocol.not_json` when a payload is not one JSON object in UTF-8.
   */
  *push(chunk: Uint8Array): Generator<Record<string, unknown>> {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#payload === undefined) {
        rest = this.#takePrefix(rest);
        if (this.#prefixFilled < PREFIX_BYTES) return;
        const length = this.#declaredLength();
        if (rest.length >= length) {
          const message = this.#decode(rest.subarray(0, length));
          rest = rest.subarray(length);
          this.#prefixFilled = 0;
          yield message;
          continue;
        }
        this.#payload = new Uint8Array(length);
        this.#payloadFilled = 0;
      }
      const taken = rest.subarray(0, this.#payload.length - this.#payloadFilled);
      this.#payload.set(taken, this.#payloadFilled);
      this.#payloadFilled += taken.length;
      rest = rest.subarray(taken.length);
      if (this.#payloadFilled === this.#payload.length) {
        const message = this.#decode(this.#payload);
        this.#payload = undefined;
        this.#prefixFilled = 0;
        yield message;
      }
    }
  }

  /**
   * Says that the stream has ended.
   *
   * @throws `protocol.truncated` when it ended inside a prefix or a payload.
   */
  end(): void {
    if (this.#payload !== undefined || this.#prefixFilled > 0) {
      throw new CapsuleError(
        "protocol.truncated",
        `Read a frame: the stream ended inside a ${this.#payload ? "payload" : "length"}, at byte ${
          this.#offset + this.#payloadFilled
        }`,
      );
    }
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
      throw new CapsuleError(
        "protocol.frame_too_large",
        `Read a frame: ${length} bytes declared at byte ${
          this.#offset - PREFIX_BYTES
        }, at most ${MAX_FRAME_BYTES} are allowed`,
      );
    }
    return length;
  }

  #decode(payload: Uint8Array): Record<string, unknown> {
    const at = this.#payloadOffset = this.#offset;
    this.#offset += payload.length;
    let value: unknown;
    try {
      value = JSON.parse(decoder.decode(payload));
    } catch {
      throw new CapsuleError("protocol.not_json", `Read a frame: not JSON in UTF-8, payload at byte ${at}`);
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new CapsuleError("protocol.not_json", `Read a frame: not a JSON object, payload at byte ${at}`);
    }
    return value as Record<string, unknown>;
  }
}
