import { boundedTail, MAX_DETAIL_BYTES } from "../../base/mod.ts";

/** The longest line that is passed on, bytes; the rest of a longer one is dropped. */
const MAX_LINE_BYTES = 8 * 1024;
const LF = 10;

/** A child's stderr: lines passed on as they come, and the end of it kept for its record. A flood costs no memory. */
export class StderrLines {
  readonly #onLine: (line: string) => void;
  readonly #line = new Uint8Array(MAX_LINE_BYTES);
  #lineBytes = 0;
  #tail: Uint8Array = new Uint8Array(0);

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** The end of what was read so far; bytes that are not UTF-8 are replaced. */
  get tail(): string {
    let from = 0;
    while (from < this.#tail.length && (this.#tail[from]! & 0xc0) === 0x80) from++;
    return boundedTail(new TextDecoder().decode(this.#tail.subarray(from)));
  }

  push(chunk: Uint8Array): void {
    this.#keep(chunk);
    for (let rest = chunk; rest.length > 0;) {
      const end = rest.indexOf(LF);
      const part = end === -1 ? rest : rest.subarray(0, end);
      const taken = part.subarray(0, MAX_LINE_BYTES - this.#lineBytes);
      this.#line.set(taken, this.#lineBytes);
      this.#lineBytes += taken.length;
      if (end === -1) return;
      this.#flush();
      rest = rest.subarray(end + 1);
    }
  }

  /** What came last had no end of line. */
  end(): void {
    if (this.#lineBytes > 0) this.#flush();
  }

  #flush(): void {
    const line = new TextDecoder().decode(this.#line.subarray(0, this.#lineBytes));
    this.#lineBytes = 0;
    if (line !== "") this.#onLine(line);
  }

  #keep(chunk: Uint8Array): void {
    const length = Math.min(this.#tail.length + chunk.length, MAX_DETAIL_BYTES);
    const kept = new Uint8Array(length);
    const fromChunk = chunk.subarray(Math.max(0, chunk.length - length));
    const room = length - fromChunk.length;
    kept.set(this.#tail.subarray(this.#tail.length - room));
    kept.set(fromChunk, room);
    this.#tail = kept;
  }
}
