import {
  type CallError,
  ChunkQueue,
  CreditWindow,
  decodeChunkData,
  encodeChunkData,
  type HttpCall,
  isHttpField,
  MAX_HEAD_BYTES,
  MAX_HEAD_FIELDS,
  type StreamChunk,
} from "../protocol/mod.ts";
import { type IncomingExchange, openExchange, type ServedAnswer } from "../wasi/network.ts";
import type { SpareInstance } from "./http_server.ts";
import { describeThrown, type Emit, giveUp } from "./served_instance.ts";

/** One request in the guest's thread, from its call to its end. */
export class ServedCall {
  readonly #call: HttpCall;
  readonly #emit: Emit;
  readonly #body: ChunkQueue;
  readonly #window = new CreditWindow();
  readonly #cancelled = Promise.withResolvers<void>();
  #isCancelled = false;

  constructor(call: HttpCall, emit: Emit) {
    this.#call = call;
    this.#emit = emit;
    const { id } = call;
    this.#body = new ChunkQueue((bytes) => this.#send({ type: "credit", id, stream: "request", bytes }));
    if (!call.has_body) this.#body.push(new Uint8Array(0), true);
  }

  /** Takes a piece of the request's body. @throws `protocol.*` */
  receive(chunk: StreamChunk): void {
    if (!this.#isCancelled) this.#body.push(decodeChunkData(chunk), chunk.end);
  }

  /** The parent has taken so many bytes of the response's body. */
  credit(bytes: number): void {
    this.#window.add(bytes);
  }

  /** Gives the call up: its instance does not run again. */
  cancel(): void {
    this.#isCancelled = true;
    this.#cancelled.resolve();
  }

  /** Lets an instance serve the call; settles with what went wrong, when all of the response was sent. Never rejects. */
  async run(spare: Promise<SpareInstance>): Promise<CallError | undefined> {
    let instance: SpareInstance | undefined;
    let hasReturned = false;
    try {
      instance = await spare;
      if (this.#isCancelled) return CANCELLED;
      instance.slot.callId = this.#call.id;
      const serving = this.#serve(instance);
      const error = await Promise.race([serving, this.#cancelled.promise.then(() => CANCELLED)]);
      hasReturned = error !== CANCELLED;
      if (!hasReturned) serving.catch(() => {});
      return error;
    } catch (thrown) {
      return describeThrown(thrown, instance);
    } finally {
      if (instance !== undefined) giveUp(instance, hasReturned);
    }
  }

  async #serve({ handle }: SpareInstance): Promise<CallError | undefined> {
    const exchange = this.#openExchange();
    const answering = exchange.answer.then((answer) => this.#answer(answer));
    answering.catch(() => {}); // looked at below, or the guest's own failure says more
    try {
      await handle(exchange.request, exchange.outparam);
    } catch (thrown) {
      exchange.end();
      await answering.catch(() => {}); // a response that was whole before is still sent
      throw thrown;
    }
    exchange.end();
    return await answering;
  }

  #openExchange(): IncomingExchange {
    const { method, scheme, authority, path_with_query, headers } = this.#call.request;
    return openExchange({
      method,
      scheme,
      authority,
      pathWithQuery: path_with_query,
      fields: headers,
      body: { pull: () => this.#body.pull(), cancel: () => {} },
    });
  }

  async #answer(answer: ServedAnswer): Promise<CallError | undefined> {
    if (answer.kind === "error") return { kind: "no_response", detail: answer.detail };
    const fault = findFault(answer);
    if (fault !== undefined) return { kind: "no_response", detail: fault };
    const { id } = this.#call;
    this.#send({ type: "head", id, status: answer.status, headers: answer.fields });
    try {
      for (let piece = await answer.take(); piece !== undefined; piece = await answer.take()) {
        await this.#sendPiece(piece);
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { kind: "no_response", detail: `the guest did not finish its response: ${why}` };
    }
    this.#send({ type: "chunk", id, stream: "response", data: "", end: true });
    return undefined;
  }

  async #sendPiece(piece: Uint8Array): Promise<void> {
    for (let at = 0; at < piece.length;) {
      const count = await this.#window.take(piece.length - at);
      const data = encodeChunkData(piece.subarray(at, at + count));
      this.#send({ type: "chunk", id: this.#call.id, stream: "response", data, end: false });
      at += count;
    }
  }

  /** Nothing is said of a call behind its end. */
  #send(message: Parameters<Emit>[0]): void {
    if (!this.#isCancelled) this.#emit(message);
  }
}

const CANCELLED: CallError = { kind: "cancelled", detail: "the call was given up" };

/** What makes a guest's head one that cannot be sent. */
function findFault({ status, fields }: Extract<ServedAnswer, { kind: "response" }>): string | undefined {
  if (status < 200 || status > 599) return `the guest's status ${status} is none of a final response`;
  const size = fields.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (fields.length > MAX_HEAD_FIELDS || size > MAX_HEAD_BYTES) return "the guest's head is too large";
  return fields.every(([name, value]) => isHttpField(name, value)) ? undefined : "the guest's head has a bad field";
}
