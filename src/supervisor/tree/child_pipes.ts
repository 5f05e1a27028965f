import type { Clock } from "./clock.ts";

/** After an exit, how long its pipes may be silent until what holds them open is waited for no longer, ms. */
const EMPTY_PIPE_MS = 500;
/** What a process can leave in its pipes, bytes: whatever comes after so much of it is another's. */
const MAX_PIPE_BYTES = 1024 * 1024;
/** After an exit, how long its pipes are read when what holds them open goes on writing, ms. */
const MAX_DRAIN_MS = 10_000;

/** Who takes what a child writes, as it is read. None of it may throw. */
export interface PipeListener {
  stdout(chunk: Uint8Array): void;
  stdoutEnd(): void;
  stderr(chunk: Uint8Array): void;
}

/** A child's stdout and stderr, read from its start on. */
export class ChildPipes {
  readonly #clock: Clock;
  readonly #stdout: ReadableStreamDefaultReader<Uint8Array>;
  readonly #stderr: ReadableStreamDefaultReader<Uint8Array>;
  readonly #ended: Promise<unknown>;
  #readMs = 0;
  #readBytes = 0;

  constructor(child: Deno.ChildProcess, clock: Clock, listener: PipeListener) {
    this.#clock = clock;
    this.#stdout = child.stdout.getReader();
    this.#stderr = child.stderr.getReader();
    const heard = this.#read(this.#stdout, listener.stdout).then(listener.stdoutEnd);
    this.#ended = Promise.all([heard, this.#read(this.#stderr, listener.stderr)]);
  }

  /**
   * After the exit: until both have ended, or were empty for 500 ms, since a process left behind may hold them open; or
   * gave more than the dead can have left there, since it may also write.
   */
  async drained(): Promise<void> {
    const [exitMs, exitBytes] = [this.#clock.nowMs(), this.#readBytes];
    let [open, stop] = [true, () => {}];
    const end = this.#ended.then(() => {
      open = false;
    });
    while (open) {
      const untilMs = Math.min(Math.max(exitMs, this.#readMs) + EMPTY_PIPE_MS, exitMs + MAX_DRAIN_MS);
      const leftMs = untilMs - this.#clock.nowMs();
      if (leftMs <= 0 || this.#readBytes - exitBytes > 2 * MAX_PIPE_BYTES) break;
      const silence = new Promise<void>((resolve) => {
        stop = this.#clock.after(leftMs, resolve);
      });
      await Promise.race([end, silence]);
      stop();
    }
    this.#stdout.cancel().catch(() => {});
    this.#stderr.cancel().catch(() => {});
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>, take: (chunk: Uint8Array) => void): Promise<void> {
    while (true) {
      const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
      if (done || value === undefined) return;
      this.#readMs = this.#clock.nowMs();
      this.#readBytes += value.length;
      take(value);
    }
  }
}
