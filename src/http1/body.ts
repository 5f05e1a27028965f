import { type Field, valuesOf } from "./head.ts";
import { HeadFault } from "./head_fault.ts";

/** How long a body is: known before, said piece by piece, or until the stream ends (responses alone). */
export type Framing =
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "until_end" };

/**
 * The one framing that the fields name; undefined when they name none.
 *
 * @throws {HeadFault} when they name two, one twice, or one that is not plain (RFC 9112 §6): readers differ on those.
 */
export function framingOf(fields: readonly Field[]): Framing | undefined {
  const lengths = valuesOf(fields, "content-length");
  const encodings = valuesOf(fields, "transfer-encoding");
  if (lengths.length + encodings.length > 1) throw new HeadFault("more than one framing of the body");
  if (encodings.length === 1) {
    if (encodings[0]!.toLowerCase() !== "chunked") throw new HeadFault("a transfer encoding that is not chunked");
    return { kind: "chunked" };
  }
  if (lengths.length === 0) return undefined;
  if (!/^[0-9]{1,15}$/.test(lengths[0]!)) throw new HeadFault("a content length that is no number");
  return { kind: "length", bytes: Number(lengths[0]) };
}

/** The field that names a framing anew. */
export function framingField(framing: Framing): Field[] {
  if (framing.kind === "chunked") return [["transfer-encoding", "chunked"]];
  return framing.kind === "length" ? [["content-length", String(framing.bytes)]] : [];
}

const MAX_EXTENSION_BYTES = 1024;
const MAX_TRAILER_BYTES = 8192;
const [LF, CR, SEMICOLON, SPACE, TAB] = [10, 13, 59, 32, 9];

type ChunkState = "size" | "extension" | "size_lf" | "data" | "data_cr" | "data_lf" | "trailer" | "trailer_lf";

/**
 * Takes a body out of its framing. Chunk extensions and trailers are read, bounded and dropped. After the end, nothing
 * is taken any more.
 */
export class BodyDecoder {
  readonly #framing: Framing;
  #rest = 0;
  #state: ChunkState = "size";
  #digits = 0;
  #extra = 0;
  #lineBytes = 0;
  #done: boolean;

  constructor(framing: Framing) {
    this.#framing = framing;
    if (framing.kind === "length") this.#rest = framing.bytes;
    this.#done = framing.kind === "length" && framing.bytes === 0;
  }

  /** Whether the body has ended; a body until the end of the stream never does by itself. */
  get isDone(): boolean {
    return this.#done;
  }

  /**
   * The next piece of data in `bytes` (it may be empty), and how many bytes to take for it. Call again with the rest.
   *
   * @throws {HeadFault} when a chunk is not framed as RFC 9112 §7.1 says.
   */
  decode(bytes: Uint8Array): { readonly data: Uint8Array; readonly taken: number } {
    if (this.#done) return { data: bytes.subarray(0, 0), taken: 0 };
    if (this.#framing.kind === "until_end") return { data: bytes, taken: bytes.length };
    let at = 0;
    while (this.#framing.kind === "chunked" && this.#state !== "data" && at < bytes.length && !this.#done) {
      this.#step(bytes[at++]!);
    }
    if (this.#done || at === bytes.length) return { data: bytes.subarray(0, 0), taken: at };
    const data = bytes.subarray(at, at + Math.min(this.#rest, bytes.length - at));
    this.#rest -= data.length;
    if (this.#rest === 0) {
      if (this.#framing.kind === "length") this.#done = true;
      this.#state = "data_cr";
    }
    return { data, taken: at + data.length };
  }

  #step(byte: number): void {
    switch (this.#state) {
      case "size":
        return this.#stepSize(byte);
      case "extension":
        if (byte === CR) this.#state = "size_lf";
        else this.#count(byte, MAX_EXTENSION_BYTES);
        return;
      case "size_lf":
        this.#expect(byte, LF, this.#rest === 0 ? "trailer" : "data");
        this.#extra = this.#digits = this.#lineBytes = 0;
        return;
      case "data_cr":
        return this.#expect(byte, CR, "data_lf");
      case "data_lf":
        return this.#expect(byte, LF, "size");
      case "trailer":
        if (byte === CR) this.#state = "trailer_lf";
        else {
          this.#lineBytes++;
          this.#count(byte, MAX_TRAILER_BYTES);
        }
        return;
      case "trailer_lf":
        this.#expect(byte, LF, "trailer");
        if (this.#lineBytes === 0) this.#done = true;
        this.#lineBytes = 0;
        return;
      case "data":
    }
  }

  #stepSize(byte: number): void {
    const digit = parseInt(String.fromCharCode(byte), 16);
    if (!Number.isNaN(digit)) {
      if (++this.#digits > 12) throw new HeadFault("a chunk size of more than 12 digits");
      this.#rest = this.#rest * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw new HeadFault("a chunk size that is no number");
    if (byte === CR) this.#state = "size_lf";
    else if (byte === SEMICOLON) this.#state = "extension";
    else throw new HeadFault("a chunk size that is no number");
  }

  #count(byte: number, most: number): void {
    if ((byte < SPACE && byte !== TAB) || byte === 127) throw new HeadFault("a control character between chunks");
    if (++this.#extra > most) throw new HeadFault("too much between chunks");
  }

  #expect(byte: number, wanted: number, next: ChunkState): void {
    if (byte !== wanted) throw new HeadFault("a chunk that does not end where it says");
    this.#state = next;
  }
}

const encoder = new TextEncoder();
const CRLF = encoder.encode("\r\n");
/** The end of a chunked body, without trailers. */
export const LAST_CHUNK: Uint8Array = encoder.encode("0\r\n\r\n");

/** Puts chunks around data, one at a time in one buffer: garbage of this size comes faster than it is collected. */
export class ChunkEncoder {
  #buffer = new Uint8Array(0);

  /** One chunk; valid until the next. */
  encode(data: Uint8Array): Uint8Array {
    const size = encoder.encode(`${data.length.toString(16)}\r\n`);
    const length = size.length + data.length + CRLF.length;
    if (this.#buffer.length < length) this.#buffer = new Uint8Array(length);
    this.#buffer.set(size);
    this.#buffer.set(data, size.length);
    this.#buffer.set(CRLF, length - CRLF.length);
    return this.#buffer.subarray(0, length);
  }
}
