import { MAX_LOG_CHARACTERS } from "../protocol/mod.ts";
import type { ByteSink } from "../wasi/mod.ts";

/** What one request may write to stdout and stderr together before the rest is dropped, bytes. */
const MAX_BYTES = 256 * 1024;
const BUDGET_BYTES = 64 * 1024;
const NEWLINE = 10;

/**
 * Where the stdout or stderr of one served instance goes: line by line to `tell`, so much and no more. A long line is
 * told in pieces.
 */
export class LogLines implements ByteSink {
  readonly #tell: (text: string) => void;
  #line: Uint8Array[] = [];
  #lineBytes = 0;
  #bytes = 0;

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  budget(): number {
    return BUDGET_BYTES;
  }

  write(bytes: Uint8Array): void {
    const fits = bytes.subarray(0, Math.max(0, MAX_BYTES - this.#bytes));
    if (this.#bytes < MAX_BYTES && fits.length < bytes.length) {
      this.#tell("… the rest of this request's output is dropped");
    }
    this.#bytes += bytes.length;
    for (let at = 0; at < fits.length;) {
      const end = fits.indexOf(NEWLINE, at);
      const piece = fits.slice(at, Math.min(end < 0 ? fits.length : end, at + MAX_LOG_CHARACTERS - this.#lineBytes));
      this.#line.push(piece);
      this.#lineBytes += piece.length;
      at += piece.length;
      if (at === end) at++;
      if (at === end + 1 || this.#lineBytes === MAX_LOG_CHARACTERS) this.flush();
    }
  }

  /** Tells what stands without a newline. */
  flush(): void {
    if (this.#line.length === 0) return;
    const decoder = new TextDecoder();
    const text = this.#line.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
    [this.#line, this.#lineBytes] = [[], 0];
    this.#tell(text);
  }
}
