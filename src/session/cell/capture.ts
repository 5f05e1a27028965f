import type { CapsuleError } from "../../base/mod.ts";
import type { ResultFile } from "../../records/mod.ts";
import type { CapturedCell } from "../../supervisor/mod.ts";
import type { StderrLog } from "./stderr_log.ts";

/** Options of {@link Capture}. */
export interface CaptureOptions {
  /** Where stdout goes. */
  readonly result: ResultFile;
  /** Where stderr goes. */
  readonly log: Pick<StderrLog, "append">;
  /** What the guest reads from its stdin. */
  readonly input: string;
  /** The most that stdout and stderr may hold together. */
  readonly maxBytes: number;
  /** Told each piece of stdout that is kept. */
  readonly onOutput?: (bytes: Uint8Array) => void;
}

/** Of the answer, so much is kept in memory: what is handed on is shorter. */
const HEAD_BYTES = 16 * 1024;

/** How long the streams of a process that is gone may be silent before nobody waits for their end any more, ms. */
const SILENCE_MS = 500;

/**
 * A captured cell's streams: the input goes in, stdout becomes the session's result and stderr its log. More than
 * `maxBytes` ends the cell: its own host counts exactly, and this is for a cell that is not what it should be.
 */
export class Capture {
  readonly #cell: CapturedCell;
  readonly #result: ResultFile;
  readonly #onOutput: ((bytes: Uint8Array) => void) | undefined;
  readonly #readers: readonly ReadableStreamDefaultReader<Uint8Array>[];
  readonly #drained: Promise<unknown>;
  readonly #head = new Uint8Array(HEAD_BYTES);
  #headBytes = 0;
  #room: number;
  #isOver = false;
  #failure: CapsuleError | undefined;
  #turns = 0;

  constructor(cell: CapturedCell, { result, log, input, maxBytes, onOutput }: CaptureOptions) {
    this.#cell = cell;
    this.#room = maxBytes;
    this.#result = result;
    this.#onOutput = onOutput;
    const [stdout, stderr] = [cell.stdout.getReader(), cell.stderr.getReader()];
    this.#readers = [stdout, stderr];
    this.#drained = Promise.all([
      this.#drain(stdout, (bytes) => this.#keep(bytes)),
      this.#drain(stderr, (bytes) => log.append(bytes)),
    ]);
    feed(cell.stdin, input);
  }

  /** Whether the guest wrote more than it may. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The start of what came on stdout, as text; bytes that are not UTF-8 are replaced. */
  get head(): string {
    return new TextDecoder().decode(this.#head.subarray(0, this.#headBytes));
  }

  /**
   * Waits for what a cell that is gone has written, and makes its stdout the result.
   * @throws `home.unwritable` when the result could not be written whole; what could is kept
   */
  async finish(): Promise<void> {
    await this.#untilSilent();
    this.#result.commit();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Lets go of the streams. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#readers.map((reader) => reader.cancel()));
    await this.#drained;
  }

  async #drain(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    take: (bytes: Uint8Array) => void,
  ): Promise<void> {
    while (true) {
      const { value, done } = await reader.read().catch(() => END);
      if (done) return;
      this.#turns++;
      const allowed = value.subarray(0, this.#room);
      this.#room -= allowed.length;
      if (allowed.length > 0) take(allowed);
      if (allowed.length === value.length) continue;
      this.#isOver = true;
      this.#cell.cell.kill();
    }
  }

  #keep(bytes: Uint8Array): void {
    const head = bytes.subarray(0, HEAD_BYTES - this.#headBytes);
    this.#head.set(head, this.#headBytes);
    this.#headBytes += head.length;
    if (this.#failure !== undefined) return;
    try {
      this.#result.write(bytes);
      this.#onOutput?.(bytes);
    } catch (error) {
      this.#failure = error as CapsuleError;
      this.#cell.cell.kill();
    }
  }

  async #untilSilent(): Promise<void> {
    for (let isDrained = false; !isDrained;) {
      const turns = this.#turns;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silence = new Promise<false>((resolve) => timer = setTimeout(() => resolve(false), SILENCE_MS));
      isDrained = await Promise.race([this.#drained.then(() => true), silence]);
      clearTimeout(timer);
      if (turns === this.#turns) return;
    }
  }
}

const END = { value: undefined, done: true } as const;

/** A guest need not read what it is given. */
async function feed(stdin: WritableStream<Uint8Array>, input: string): Promise<void> {
  const writer = stdin.getWriter();
  try {
    if (input !== "") await writer.write(new TextEncoder().encode(input));
    await writer.close();
  } catch { /* it is gone, or has closed its end */ }
}
