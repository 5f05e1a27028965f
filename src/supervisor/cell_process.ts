import { CapsuleError, hostHint } from "../base/mod.ts";
import { encodeFrame, FrameDecoder } from "../protocol/mod.ts";
import { ownProcess } from "./own_processes.ts";
import { TailBuffer } from "./tail_buffer.ts";

/** How a process ended: its code, and the signal that ended it if one did. */
export interface ChildExit {
  readonly code: number;
  readonly signal: Deno.Signal | null;
}

/** A byte channel to a cell, both ways. */
export interface CellChannel {
  /** @returns the number of bytes read into `buffer`, or null at the end. */
  read(buffer: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

const READ_BYTES = 64 * 1024;

/** What may wait for a cell that is slow to read, bytes. */
export const MAX_QUEUED_BYTES = 32 * 1024 * 1024;

/**
 * One living cell: frames down, frames up, its exit. Signalled by pid only, since a cell can have no descendants.
 * Disposing kills and reaps it.
 */
export class CellProcess implements AsyncDisposable {
  readonly pid: number;
  /** Settles when the process is reaped; never rejects. */
  readonly exit: Promise<ChildExit>;
  readonly #child: Deno.ChildProcess;
  readonly #channel: CellChannel;
  readonly #stderr: TailBuffer | undefined;
  #writing: Promise<void> = Promise.resolve();
  #queuedBytes = 0;
  #fault: CapsuleError | undefined;
  #gone = false;

  constructor(child: Deno.ChildProcess, channel: CellChannel, exit: Promise<ChildExit>, stderr?: TailBuffer) {
    this.pid = child.pid;
    this.#child = child;
    this.#channel = channel;
    this.#stderr = stderr;
    this.exit = exit.then((ended) => {
      this.#gone = true;
      return ended;
    });
  }

  /**
   * Sends one message; messages never interleave. A cell that has died meanwhile is not an error here: its exit tells.
   * One that asks and does not read what it is answered is killed, once {@link MAX_QUEUED_BYTES} wait for it.
   *
   * @throws `protocol.frame_too_large`
   */
  send(message: object): Promise<void> {
    const frame = encodeFrame(message);
    this.#queuedBytes += frame.length;
    if (this.#queuedBytes > MAX_QUEUED_BYTES) this.#giveUp();
    this.#writing = this.#writing.then(async () => {
      await this.#write(frame);
      this.#queuedBytes -= frame.length;
    });
    return this.#writing;
  }

  #giveUp(): void {
    this.#fault ??= new CapsuleError("protocol.unexpected", "Write to a cell: it does not read what it is sent");
    this.kill();
  }

  /**
   * Every message the cell wrote, until its end of stream: a caller that reads to the end before it awaits
   * {@link exit} handles every frame before the exit.
   *
   * @throws `protocol.*` at a fault, and when the cell was killed because it did not read
   */
  async *receive(): AsyncGenerator<Record<string, unknown>> {
    const decoder = new FrameDecoder();
    const buffer = new Uint8Array(READ_BYTES);
    while (true) {
      const count = await this.#channel.read(buffer).catch(() => null);
      if (count === null) break;
      yield* decoder.push(buffer.subarray(0, count));
    }
    if (this.#fault) throw this.#fault;
    decoder.end();
  }

  /** Ends the process at once. Nothing happens when it is gone. */
  kill(signal: Deno.Signal = "SIGKILL"): void {
    if (this.#gone) return;
    try {
      this.#child.kill(signal);
    } catch { /* it ended between the check and the signal */ }
  }

  /** The last bytes a serving cell wrote to stderr; empty for a foreground cell, whose stderr is the user's. */
  stderrTail(): string {
    return this.#stderr?.text() ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.exit;
    this.#channel.close();
    await this.#stderr?.drained;
  }

  async #write(frame: Uint8Array): Promise<void> {
    let written = 0;
    try {
      while (written < frame.length) written += await this.#channel.write(frame.subarray(written));
    } catch { /* the reader is gone; exit says why */ }
  }
}

/**
 * Starts a child, trying again while the system has no process to give (EAGAIN: 10 times, 20 ms longer each).
 *
 * @param what for the message: `a cell`
 * @throws `cell.start_failed`
 */
export async function spawnPatiently(
  command: Pick<Deno.Command, "spawn">,
  what = "a cell",
): Promise<Deno.ChildProcess> {
  for (let attempt = 1;; attempt++) {
    try {
      const child = command.spawn();
      ownProcess(child);
      return child;
    } catch (error) {
      if (!(error instanceof Deno.errors.WouldBlock) || attempt > 10) {
        const hint = hostHint(error);
        const message = `Start ${what}: ${(error as Error).message}${hint === undefined ? "" : `; ${hint}`}`;
        throw new CapsuleError("cell.start_failed", message, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 20 * attempt));
    }
  }
}
