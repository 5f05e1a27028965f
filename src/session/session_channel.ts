import { CapsuleError } from "../base/mod.ts";
import { encodeFrame, FrameDecoder } from "../protocol/mod.ts";
import { type AgentMsg, type ControlMsg, decodeControl, type UnknownMessage } from "../protocol/control/mod.ts";

/** Frames that may wait for a supervisor that does not read; answers to pings and events beyond them are dropped. */
const MAX_WAITING = 64;

/** A session's side of its frames: what its supervisor says on stdin, its own words on stdout, in order and whole. */
export class SessionChannel {
  #writing: Promise<void> = Promise.resolve();
  #waiting = 0;
  #isOver = false;
  /** Events of a session that is not ready: only that it is up may be said before. */
  #held: AgentMsg[] | undefined = [];

  /**
   * Sends one message, unless the last word was said; settles when it is written, or nobody reads any more. Before `ready`
   * events wait for it, and there is no usage.
   */
  send(message: AgentMsg): Promise<void> {
    if (message.type === "ready") return this.#sayReady(message);
    const isEarly = message.type === "usage" || (message.type === "event" && message.event !== "child.up");
    if (this.#held === undefined || !isEarly) return this.#write(message);
    if (message.type === "event" && this.#held.length < MAX_WAITING) this.#held.push(message);
    return this.#writing;
  }

  #sayReady(message: AgentMsg): Promise<void> {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#write(message);
    for (const event of held) this.#write(event);
    return this.#writing;
  }

  #write(message: AgentMsg): Promise<void> {
    const isMinor = message.type === "pong" || message.type === "event";
    if (this.#isOver || (isMinor && this.#waiting >= MAX_WAITING)) return this.#writing;
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

  /** What the supervisor says, until it goes away. @throws `protocol.*` naming the rule and the byte, never the payload */
  async *receive(): AsyncGenerator<ControlMsg | UnknownMessage> {
    const decoder = new FrameDecoder();
    const buffer = new Uint8Array(64 * 1024);
    for (let count = await read(buffer); count !== null; count = await read(buffer)) {
      for (const message of decoder.push(buffer.subarray(0, count))) {
        yield decodeControl(message, decoder.payloadOffset);
      }
    }
    decoder.end();
  }
}

async function read(buffer: Uint8Array): Promise<number | null> {
  try {
    return await Deno.stdin.read(buffer);
  } catch (cause) {
    throw new CapsuleError("protocol.truncated", "Read frames: stdin cannot be read", { cause });
  }
}
