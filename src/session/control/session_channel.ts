import { CapsuleError } from "../../base/mod.ts";
import { encodeFrame, FrameDecoder } from "../../protocol/mod.ts";
import { type AgentMsg, type ControlMsg, decodeControl, type UnknownMessage } from "../../protocol/control/mod.ts";

/** Frames that may wait for a supervisor that does not read, before what may be missed is. */
const MAX_WAITING = 64;

/** A session's side of its frames: what its supervisor says on stdin, its own words on stdout, in order and whole. */
export class SessionChannel {
  #writing: Promise<void> = Promise.resolve();
  #waiting = 0;
  #isReady = false;
  #isOver = false;
  #readsInBackground = false;

  /** Sends one message that may be missed: a supervisor that does not read misses it. */
  offer(message: AgentMsg): void {
    if (this.#waiting < MAX_WAITING) this.send(message);
  }

  /**
   * Sends one message; settles when it is written, or nobody reads any more. Nothing is sent after the last word, and
   * before `ready` nothing but that this reader runs, answers to pings, and a last word.
   */
  send(message: AgentMsg): Promise<void> {
    if (message.type === "ready") this.#isReady = true;
    if (this.#isOver || (!this.#isReady && needsReady(message))) return this.#writing;
    const frame = encodeFrame(message);
    this.#waiting++;
    this.#writing = this.#writing.then(async () => {
      try {
        for (let written = 0; written < frame.length;) written += await Deno.stdout.write(frame.subarray(written));
      } catch { /* the supervisor is gone, and stdin says so */ }
      this.#waiting--;
    });
    return this.#writing;
  }

  /** Says the last word: nothing is sent after it. */
  finish(message: AgentMsg): Promise<void> {
    const sent = this.send(message);
    this.#isOver = true;
    return sent;
  }

  /** From now on waiting for a message holds nothing up; that takes a thread, so only behind the first layer of walls. */
  readInBackground(): void {
    this.#readsInBackground = true;
  }

  /** What the supervisor says, until it goes away. @throws `protocol.*` naming the rule and the byte, never the payload */
  async *receive(): AsyncGenerator<ControlMsg | UnknownMessage> {
    const decoder = new FrameDecoder();
    const buffer = new Uint8Array(64 * 1024);
    for (let count = await this.#read(buffer); count !== null; count = await this.#read(buffer)) {
      for (const message of decoder.push(buffer.subarray(0, count))) {
        yield decodeControl(message, decoder.payloadOffset);
      }
    }
    decoder.end();
  }

  async #read(buffer: Uint8Array): Promise<number | null> {
    try {
      return this.#readsInBackground ? await Deno.stdin.read(buffer) : Deno.stdin.readSync(buffer);
    } catch (cause) {
      throw new CapsuleError("protocol.truncated", "Read frames: stdin cannot be read", { cause });
    }
  }
}

function needsReady(message: AgentMsg): boolean {
  return message.type === "usage" || (message.type === "event" && message.event !== "child.up");
}
