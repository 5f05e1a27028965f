const NEWLINE = 10;

/** One line as bytes without its newline; `bytes` is absent when it was too long to keep. */
export interface SplitLine {
  readonly bytes?: Uint8Array;
  /** Bytes it takes in the file, with its newline. */
  readonly length: number;
  /** Whether it has its newline. */
  readonly ended: boolean;
}

/** Bytes in, lines out, in flat memory: a line above the limit is counted and not kept. */
export class LineSplitter {
  readonly #maxBytes: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  constructor(maxLineBytes: number) {
    this.#maxBytes = maxLineBytes;
  }

  /** Takes the next bytes (copied) and gives the lines that end in them. */
  *push(chunk: Uint8Array): Generator<SplitLine> {
    for (let start = 0; start < chunk.length;) {
      const found = chunk.indexOf(NEWLINE, start);
      const end = found === -1 ? chunk.length : found;
      this.#heldBytes += end - start;
      if (this.#heldBytes <= this.#maxBytes) this.#held.push(chunk.slice(start, end));
      else this.#held = [];
      if (found !== -1) yield this.#take(true);
      start = end + 1;
    }
  }

  /** What came after the last newline, if anything. */
  rest(): SplitLine | undefined {
    return this.#heldBytes === 0 ? undefined : this.#take(false);
  }

  #take(ended: boolean): SplitLine {
    const length = this.#heldBytes;
    const size = { length: length + (ended ? 1 : 0), ended };
    const line = length > this.#maxBytes ? size : { ...size, bytes: concat(this.#held, length) };
    [this.#held, this.#heldBytes] = [[], 0];
    return line;
  }
}

function concat(parts: readonly Uint8Array[], length: number): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
