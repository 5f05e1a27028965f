import { HeadFault, latin1, valuesOf } from "../net/head.ts";
import type { WireReader } from "../net/wire.ts";

/** How the contents of a message are marked off. */
export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "until_end" };

const MAX_LINE_BYTES = 8192;
const MAX_TRAILER_LINES = 256;

/**
 * How a response's contents are marked off (RFC 9112 §6.3).
 * @throws HeadFault when its fields contradict each other
 */
export function responseFraming(
  method: string,
  status: number,
  fields: readonly (readonly [string, string])[],
): Framing {
  if (method === "HEAD" || status === 204 || status === 304) return { kind: "none" };
  const codings = valuesOf(fields, "transfer-encoding");
  const lengths = new Set(valuesOf(fields, "content-length").flatMap((value) => value.split(/\s*,\s*/)));
  if (codings.length > 0) {
    if (codings.length > 1 || codings[0]!.toLowerCase() !== "chunked" || lengths.size > 0) {
      throw new HeadFault("syntax");
    }
    return { kind: "chunked" };
  }
  if (lengths.size === 0) return { kind: "until_end" };
  const [length = ""] = lengths;
  if (lengths.size > 1 || !/^\d{1,15}$/.test(length)) throw new HeadFault("syntax");
  return { kind: "length", bytes: Number(length) };
}

/** Takes the contents of one message out of its framing, as they come. */
export class BodyReader {
  readonly #reader: WireReader;
  readonly #framing: Framing;
  /** Bytes until the end of the body or of the chunk. */
  #left: number;
  #isFirstChunk = true;

  constructor(reader: WireReader, framing: Framing) {
    this.#reader = reader;
    this.#framing = framing;
    this.#left = framing.kind === "length" ? framing.bytes : framing.kind === "until_end" ? Infinity : 0;
  }

  /** The next bytes, valid until the next call; undefined at the end. @throws HeadFault */
  async next(): Promise<Uint8Array | undefined> {
    if (this.#left === 0 && !(this.#framing.kind === "chunked" && await this.#openChunk())) return undefined;
    const reader = this.#reader;
    if (reader.buffered.length === 0 && !await reader.fill()) {
      if (this.#framing.kind === "until_end") return undefined;
      throw new HeadFault("end");
    }
    const piece = reader.buffered.subarray(0, Math.min(this.#left, reader.buffered.length));
    reader.take(piece.length);
    this.#left -= piece.length;
    return piece;
  }

  /** Reads the line before a chunk; false behind the last one, its trailers read over. */
  async #openChunk(): Promise<boolean> {
    if (!this.#isFirstChunk && await this.#line() !== "") throw new HeadFault("syntax");
    this.#isFirstChunk = false;
    const size = /^([0-9a-fA-F]{1,12})[ \t]*(;.*)?$/.exec(await this.#line())?.[1];
    if (size === undefined) throw new HeadFault("syntax");
    this.#left = parseInt(size, 16);
    if (this.#left > 0) return true;
    for (let count = 0; await this.#line() !== ""; count++) {
      if (count >= MAX_TRAILER_LINES) throw new HeadFault("size");
    }
    return false;
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = this.#reader.buffered.subarray(0, MAX_LINE_BYTES).indexOf(10);
      if (end >= 0) {
        const line = latin1(this.#reader.buffered.subarray(0, end));
        this.#reader.take(end + 1);
        if (!line.endsWith("\r")) throw new HeadFault("syntax");
        return line.slice(0, -1);
      }
      if (this.#reader.buffered.length >= MAX_LINE_BYTES) throw new HeadFault("size");
      if (!await this.#reader.fill()) throw new HeadFault("end");
    }
  }
}
