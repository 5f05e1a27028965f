import {
  type CallError,
  ChunkQueue,
  CreditWindow,
  decodeChunkData,
  encodeChunkData,
  type FromCell,
  type HttpRequestHead,
  type HttpResponseHead,
  type StreamChunk,
  type ToCell,
} from "../../protocol/mod.ts";

/** The head of the guest's response, and its body as it is taken. */
export interface CallResponse {
  readonly status: number;
  readonly headers: HttpResponseHead["headers"];
  /** The next piece, or undefined at the end; rejects when the response broke off. */
  pull(): Promise<Uint8Array | undefined>;
}

/** How a call failed before its response had a head. */
export interface CallFailure {
  readonly failed:
    | CallError["kind"]
    | "deadline"
    | "cell_lost"
    | "overloaded"
    | "body_too_large"
    | "client_gone"
    | "draining";
  readonly detail: string;
}

/** What is asked of a guest. */
export interface CallInput {
  readonly head: HttpRequestHead;
  readonly body: ReadableStream<Uint8Array> | null;
  /** Longest body that is passed on, bytes. */
  readonly maxBodyBytes: number;
}

/** One request on its way through a cell: what is sent to it and what comes back, never more than a window of each. */
export class HttpCall {
  readonly input: CallInput;
  /** Settles once, with the head of the response or why there is none. */
  readonly answer: Promise<CallResponse | CallFailure>;
  /** Settles when the call is over on all sides, with what went wrong. */
  readonly over: Promise<CallFailure | undefined>;
  /** Whether nobody waits for more of it: what its client does now concerns it no more. */
  isDelivered = false;
  readonly #answer = Promise.withResolvers<CallResponse | CallFailure>();
  readonly #over = Promise.withResolvers<CallFailure | undefined>();
  #attempt: Attempt | undefined;
  #attempts = 0;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #isAnswered = false;
  #isOver = false;

  constructor(input: CallInput) {
    this.input = input;
    this.answer = this.#answer.promise;
    this.over = this.#over.promise;
  }

  /** Whether the answer may still come from another cell: nothing was sent, nothing of its body is gone, and it changes nothing. */
  get isRerunnable(): boolean {
    const { method } = this.input.head;
    return this.#attempts === 1 && !this.#isAnswered && !this.#isOver && this.input.body === null &&
      (method === "GET" || method === "HEAD");
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Hands the call to a cell, under a number that is this cell's alone. */
  start(id: number, send: (message: ToCell) => void): void {
    this.#attempts++;
    const attempt = new Attempt(id, send);
    this.#attempt = attempt;
    send({ type: "call", id, request: this.input.head, has_body: this.input.body !== null });
    if (this.input.body !== null) this.#pump(attempt, this.input.body);
  }

  /** Takes what the cell says of this call. @throws `protocol.*` */
  receive(message: FromCell): void {
    const attempt = this.#attempt;
    switch (message.type) {
      case "head":
        if (attempt !== undefined) this.#respond(attempt, message);
        break;
      case "chunk":
        attempt?.receive(message);
        break;
      case "credit":
        if (message.stream === "request") attempt?.window.add(message.bytes);
        break;
      case "done":
        this.finish(message.error && { failed: message.error.kind, detail: message.error.detail });
        break;
    }
  }

  /** Asks the cell to give the call up, whose `done` is still to come. One that no cell has is over at once. */
  cancel(): void {
    if (this.#attempt === undefined) return this.finish({ failed: "client_gone", detail: "the client went away" });
    this.#attempt.send({ type: "cancel", id: this.#attempt.id });
    this.#reader?.cancel().catch(() => {});
  }

  /** Says that the call is over; the first word counts. What was not answered or not whole by now fails with `failure`. */
  finish(failure: CallFailure | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.settle(failure ?? { failed: "no_response", detail: "the guest gave no response" });
    this.#attempt?.end(failure);
    this.#reader?.cancel().catch(() => {});
    this.#over.resolve(failure);
  }

  /** Answers with a failure now, while the cell may still be busy with the call. */
  settle(failure: CallFailure): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#answer.resolve(failure);
  }

  #respond(attempt: Attempt, head: HttpResponseHead): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#answer.resolve({ status: head.status, headers: head.headers, pull: () => attempt.response.pull() });
  }

  /** The request's body, at the pace at which the guest takes it. */
  async #pump(attempt: Attempt, body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = this.#reader = body.getReader();
    let bytes = 0;
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        bytes += next.value.length;
        if (bytes > this.input.maxBodyBytes) return this.#abandon("body_too_large", "the body is too large");
        for (let at = 0; at < next.value.length && !this.#isOver;) {
          const count = await attempt.window.take(next.value.length - at);
          attempt.sendChunk(next.value.subarray(at, at + count), false);
          at += count;
        }
        if (this.#isOver) return;
      }
      attempt.sendChunk(new Uint8Array(0), true);
    } catch {
      this.#abandon("client_gone", "the request broke off");
    }
  }

  #abandon(failed: CallFailure["failed"], detail: string): void {
    if (this.#isOver) return;
    this.settle({ failed, detail });
    this.cancel();
  }
}

/** A call in one cell. */
class Attempt {
  readonly id: number;
  readonly send: (message: ToCell) => void;
  readonly window = new CreditWindow();
  readonly response: ChunkQueue;
  #isWhole = false;
  #isEnded = false;

  constructor(id: number, send: (message: ToCell) => void) {
    this.id = id;
    this.send = (message) => {
      if (!this.#isEnded) send(message);
    };
    this.response = new ChunkQueue((bytes) => this.send({ type: "credit", id, stream: "response", bytes }));
  }

  receive(chunk: StreamChunk): void {
    this.#isWhole ||= chunk.end;
    this.response.push(decodeChunkData(chunk), chunk.end);
  }

  sendChunk(piece: Uint8Array, end: boolean): void {
    this.send({ type: "chunk", id: this.id, stream: "request", data: encodeChunkData(piece), end });
  }

  /** Nothing more is said to the cell; a response that is not whole breaks off. */
  end(failure: CallFailure | undefined): void {
    this.#isEnded = true;
    this.window.add(Number.MAX_SAFE_INTEGER);
    if (!this.#isWhole) this.response.fail(new Error(`Read a response: ${failure?.detail ?? "it is not whole"}`));
  }
}
