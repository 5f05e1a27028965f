import { HOSTED, requireHosted } from "../hosted.ts";
import { OutputStream } from "../output_stream.ts";
import { QueuedSink } from "../net/queued_sink.ts";
import { WireFailure } from "../net/wire_failure.ts";
import { Fields } from "./fields.ts";
import type { HttpError } from "./http_error.ts";

/** What a body holds while its message was not handed over yet, bytes. */
const IDLE_BYTES = 1024 * 1024;

type SizeTag = "HTTP-request-body-size" | "HTTP-response-body-size";

/** The contents of a message on its way out of the guest: what was declared, what came, and whether it is whole. */
export class BodyContents {
  readonly #sink = new QueuedSink(IDLE_BYTES);
  readonly #declared: bigint | undefined;
  #written = 0n;
  #isDecided = false;
  #mayBeEmpty = false;
  #state: "open" | "whole" | "broken" = "open";
  readonly #decided = Promise.withResolvers<void>();

  readonly #sizeTag: SizeTag;

  /** `declared`: the length that a Content-Length field promises; `sizeTag`: what breaking the promise is called. */
  constructor(declared: bigint | undefined, sizeTag: SizeTag) {
    this.#declared = declared;
    this.#sizeTag = sizeTag;
  }

  get declared(): bigint | undefined {
    return this.#declared;
  }

  /** Whether it is known to be whole and to have nothing in it. */
  get isEmpty(): boolean {
    return this.#state === "whole" && this.#written === 0n;
  }

  /** The stream that the guest writes to. */
  openStream(): OutputStream {
    return new OutputStream(HOSTED, {
      queue: this.#sink.queue,
      budget: () => this.#sink.budget(),
      write: (bytes) => this.#write(bytes),
    });
  }

  /** The length that was declared is that of contents which are not sent (RFC 9110 §8.6): none may be written. */
  allowNone(): void {
    this.#mayBeEmpty = true;
  }

  /** The guest says that this is all. @throws HttpError when it is not what was declared */
  finish(): void {
    const isNone = this.#mayBeEmpty && this.#written === 0n;
    if (this.#declared !== undefined && this.#written !== this.#declared && !isNone) {
      const error: HttpError = { tag: this.#sizeTag, val: this.#written };
      this.breakOff(error);
      throw error;
    }
    this.#state = "whole";
    this.#sink.end();
    this.decide();
  }

  /** The guest dropped it before it was whole, or its message is not wanted any more. */
  breakOff(error: HttpError): void {
    if (this.#state !== "open") return;
    this.#state = "broken";
    this.#sink.fail(new WireFailure(error, "connection-aborted"));
    this.decide();
  }

  /** Nobody takes its contents any more; what the guest still writes says so. */
  stop(failure: unknown): void {
    this.#sink.fail(failure);
  }

  /**
   * Settles when it is known whether there are contents: at the first byte, at its end, or when the guest waits for the
   * answer already.
   */
  decided(): Promise<void> {
    return this.#decided.promise;
  }

  /** Says that the guest waits for the answer. */
  decide(): void {
    if (this.#isDecided) return;
    this.#isDecided = true;
    this.#decided.resolve();
  }

  /** The next contents, or undefined at the end. @throws WireFailure when the guest broke it off */
  take(): Promise<Uint8Array | undefined> {
    return this.#sink.take();
  }

  #write(bytes: Uint8Array): void {
    if (this.#declared !== undefined && this.#written + BigInt(bytes.length) > this.#declared) {
      const error: HttpError = { tag: this.#sizeTag, val: this.#written + BigInt(bytes.length) };
      this.breakOff(error);
      throw new WireFailure(error, "invalid-argument");
    }
    this.#sink.write(bytes);
    this.#written += BigInt(bytes.length);
    if (bytes.length > 0) this.decide();
  }
}

/** `outgoing-body`. */
export class OutgoingBody {
  readonly #contents: BodyContents;
  #isWritten = false;
  #isFinished = false;

  constructor(key: typeof HOSTED, contents: BodyContents) {
    requireHosted(key);
    this.#contents = contents;
  }

  write(): OutputStream {
    if (this.#isWritten) throw undefined;
    this.#isWritten = true;
    return this.#contents.openStream();
  }

  /** Trailers are not sent: any are refused rather than lost. */
  static finish(body: OutgoingBody, trailers: Fields | undefined): void {
    if (!(body instanceof OutgoingBody)) throw new TypeError("Finish a body: found another type");
    body.#isFinished = true;
    if (trailers instanceof Fields && trailers.entries().length > 0) {
      body.#contents.breakOff({ tag: "HTTP-request-trailer-section-size", val: 0 });
      throw { tag: "HTTP-request-trailer-section-size", val: 0 } satisfies HttpError;
    }
    body.#contents.finish();
  }

  [Symbol.dispose](): void {
    if (!this.#isFinished) this.#contents.breakOff({ tag: "HTTP-protocol-error" });
  }
}
