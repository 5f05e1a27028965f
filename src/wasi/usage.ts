import { LimitReached } from "./endings.ts";
import type { FileError } from "./files/file_error.ts";
import type { HostLimits } from "./host.ts";
import { type ByteSink, SinkClosed } from "./ports.ts";

/** What a disk gives out at least, bytes: for a name, and for a byte that stands alone. */
const BLOCK_BYTES = 4096;

/** Blocks that every run may begin, however few bytes it may write. */
const FREE_BLOCKS = 1024;

/** What one run has used of its limits. */
export class Usage {
  readonly limits: HostLimits;
  bytesWritten = 0;
  outputBytes = 0;
  stdoutClosed = false;
  /** The limit that ends the run, once it was reached: a guest may catch what is thrown then. */
  limitReached: LimitReached["limit"] | undefined;
  #opened = 0;
  #blocks = 0;

  constructor(limits: HostLimits) {
    this.limits = limits;
  }

  /** Counts one more open file or folder. @throws FileError `insufficient-memory` at the limit (WASI has no EMFILE). */
  open(): void {
    if (this.#opened >= this.limits.openFiles) throw "insufficient-memory" satisfies FileError;
    this.#opened++;
  }

  /** Counts one less. */
  closed(): void {
    this.#opened--;
  }

  /**
   * Counts one more thing that takes a block of the disk whatever bytes it holds: a name, or a write that does not go on
   * where the last one ended (it may stand alone in a hole). As many as the bytes of the run are blocks, or 1024.
   * @throws FileError `quota`
   */
  beginBlock(): void {
    if (this.#blocks >= Math.max(FREE_BLOCKS, this.limits.workBytes / BLOCK_BYTES)) throw "quota" satisfies FileError;
    this.#blocks++;
  }

  /**
   * How many of `count` bytes may be written to a file at `offset`.
   * @throws FileError `file-too-large` past the largest size of a file, `quota` past the bytes of the run.
   */
  room(offset: number, count: number): number {
    const inFile = this.limits.fileBytes - offset;
    if (inFile <= 0) throw "file-too-large" satisfies FileError;
    const inRun = this.limits.workBytes - this.bytesWritten;
    if (inRun <= 0) throw "quota" satisfies FileError;
    return Math.min(count, inFile, inRun);
  }
}

/** `sink`, counted against the output limit: what fits goes out, then the run ends. @throws LimitReached */
export function countedSink(sink: ByteSink, usage: Usage, isStdout: boolean): ByteSink {
  return {
    budget: () => sink.budget(),
    write(bytes) {
      const left = (usage.limits.outputBytes ?? Infinity) - usage.outputBytes;
      const fits = bytes.length <= left ? bytes : bytes.subarray(0, Math.max(left, 0));
      try {
        if (fits.length > 0) sink.write(fits);
      } catch (error) {
        if (isStdout && error instanceof SinkClosed) usage.stdoutClosed = true;
        throw error;
      }
      usage.outputBytes += fits.length;
      if (fits.length === bytes.length) return;
      usage.limitReached = "output";
      throw new LimitReached(
        "output",
        `Write output: the run may write ${usage.limits.outputBytes} bytes in all; raise grants.limits.output_bytes`,
      );
    },
  };
}
