import type { Caller } from "./identify.ts";
import type { DoorLimits } from "./limits.ts";
import { DoorBusyError } from "./tasks/task_board.ts";

/** What a request hears that finds none. */
export const NO_ROOM = "Answer a request: too many large answers wait for their clients to take them";

/** The bounds of {@link ReplyRoom}. */
export type ReplyLimits = Pick<DoorLimits, "replyBytes" | "largeReplyBytes">;

/** The parts of the room that one peer may have, and all of them. */
const [PEER_SHARE, PEERS_SHARE] = [0.5, 0.75];

/**
 * The memory of answers that are made and not yet taken by their clients. A small one is always let in and not counted; a
 * large one while those of the others leave room: so that it is over its bound by one answer at most, and an answer larger
 * than the bound can be had, too. Peers leave some of it to the owner, and one of them to the others.
 */
export class ReplyRoom {
  readonly #limits: ReplyLimits;
  readonly #holds = new Set<ReplyHold>();
  #freed = Promise.withResolvers<void>();

  constructor(limits: ReplyLimits) {
    this.#limits = limits;
  }

  /** Bytes of large answers that wait to be taken. */
  get bytes(): number {
    return this.#bytesOf(() => true);
  }

  /** For the answer of one request; it holds nothing yet. */
  open(caller: Caller): ReplyHold {
    return new ReplyHold(caller, {
      fits: (hold, bytes) => bytes <= this.#limits.largeReplyBytes || this.#hasRoom(hold),
      freed: () => this.#freed.promise,
      onChange: (hold) => this.#note(hold),
    });
  }

  #hasRoom(own: ReplyHold): boolean {
    const { replyBytes } = this.#limits;
    const { isOwner, principal } = own.caller;
    const others = (isHolder: (caller: Caller) => boolean) =>
      this.#bytesOf((hold) => hold !== own && isHolder(hold.caller));
    if (others(() => true) >= replyBytes) return false;
    return isOwner || (others((caller) => !caller.isOwner) < replyBytes * PEERS_SHARE &&
      others((caller) => caller.principal === principal) < replyBytes * PEER_SHARE);
  }

  #bytesOf(isCounted: (hold: ReplyHold) => boolean): number {
    let sum = 0;
    for (const hold of this.#holds) if (isCounted(hold)) sum += hold.bytes;
    return sum;
  }

  #note(hold: ReplyHold): void {
    const wasHeld = this.#holds.delete(hold);
    if (hold.bytes > this.#limits.largeReplyBytes) this.#holds.add(hold);
    if (!wasHeld) return;
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }
}

interface HoldRoom {
  fits(hold: ReplyHold, bytes: number): boolean;
  /** Settles with the next change. */
  freed(): Promise<void>;
  onChange(hold: ReplyHold): void;
}

/** What the answer of one request holds of a {@link ReplyRoom}, bytes. */
export class ReplyHold {
  readonly caller: Caller;
  readonly #room: HoldRoom;
  #bytes = 0;
  #wasRefused = false;

  constructor(caller: Caller, room: HoldRoom) {
    this.caller = caller;
    this.#room = room;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether its answer was refused for want of room. */
  get wasRefused(): boolean {
    return this.#wasRefused;
  }

  /** Takes so many bytes more, before they are made; false when there is no room for them, then it takes none. */
  take(bytes: number): boolean {
    if (!this.#room.fits(this, this.#bytes + bytes)) return false;
    this.settle(this.#bytes + bytes);
    return true;
  }

  /** Takes so many bytes more. @throws {DoorBusyError} when there is no room for them: its answer is not made */
  claim(bytes: number): void {
    if (this.take(bytes)) return;
    this.#wasRefused = true;
    throw new DoorBusyError(NO_ROOM);
  }

  /** Takes so many bytes more once there is room for them, or its client cannot get the answer any more. */
  async wait(bytes: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.take(bytes)) await settledOrGone(this.#room.freed(), signal);
  }

  /** It holds so many bytes from now on: what an answer takes is known when it is made. */
  settle(bytes: number): void {
    this.#bytes = bytes;
    this.#room.onChange(this);
  }

  /** Its answer was taken, or nobody takes it any more. */
  release(): void {
    if (this.#bytes > 0) this.settle(0);
  }
}

/** Until it settles, or a client cannot get its answer any more. Nothing is left at the signal of a connection. */
export async function settledOrGone(settled: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  const onAbort = () => resolve();
  signal.addEventListener("abort", onAbort);
  await Promise.race([settled, gone]);
  signal.removeEventListener("abort", onAbort);
}
