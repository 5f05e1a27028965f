import { cappedLength, HOSTED, requireHosted } from "../hosted.ts";
import { Pollable } from "../pollable.ts";
import type { DatagramQueue, IncomingDatagram, OutgoingDatagram } from "./datagram_queue.ts";

const MAX_AT_ONCE = 64;

/** `incoming-datagram-stream`. */
export class IncomingDatagramStream {
  readonly #queue: DatagramQueue;

  constructor(key: typeof HOSTED, queue: DatagramQueue) {
    requireHosted(key);
    this.#queue = queue;
  }

  receive(maxResults: bigint): IncomingDatagram[] {
    return this.#queue.take(cappedLength(maxResults, MAX_AT_ONCE));
  }

  subscribe(): Pollable {
    return new Pollable(HOSTED, this.#queue.received);
  }
}

/** `outgoing-datagram-stream`. */
export class OutgoingDatagramStream {
  readonly #queue: DatagramQueue;
  #permitted = 0;

  constructor(key: typeof HOSTED, queue: DatagramQueue) {
    requireHosted(key);
    this.#queue = queue;
  }

  checkSend(): bigint {
    this.#permitted = this.#queue.room;
    return BigInt(this.#permitted);
  }

  /** @throws NetworkError of the first; one behind it is left out, and its error comes when it is sent again */
  send(datagrams: readonly OutgoingDatagram[]): bigint {
    if (!Array.isArray(datagrams)) throw new TypeError("Send datagrams: found another type than a list");
    if (datagrams.length > this.#permitted) throw new Error("Send datagrams: more than check-send permitted");
    for (const [index, datagram] of datagrams.entries()) {
      try {
        this.#queue.send(datagram);
        this.#permitted--;
      } catch (error) {
        if (index > 0 && typeof error === "string") return BigInt(index);
        throw error;
      }
    }
    return BigInt(datagrams.length);
  }

  subscribe(): Pollable {
    return new Pollable(HOSTED, this.#queue.sendable);
  }
}
