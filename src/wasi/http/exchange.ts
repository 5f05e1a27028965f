import { failureOfGate, failureOfWire } from "../net/gate_error.ts";
import { formatPlace, type GateWay, type OpenWire, type Place } from "../net/gate_way.ts";
import { bytesOf, type Head, HeadFault, latin1, readHead, valuesOf } from "../net/head.ts";
import type { OpenEnds } from "../net/open_ends.ts";
import { closeQuietly, type Wire, type WireReader, writeWhole } from "../net/wire.ts";
import { WireFailure } from "../net/wire_failure.ts";
import { BodyReader, type Framing, responseFraming } from "./body_reader.ts";
import type { FieldEntry } from "./fields.ts";
import type { HttpError } from "./http_error.ts";
import type { IdleWires } from "./idle_wires.ts";
import type { ReceivedResponse } from "./incoming_message.ts";
import type { Timeouts } from "./request_options.ts";
import type { SentBody } from "./sent_body.ts";

/** One request to one place. It was matched with the grants. */
export interface HopRequest {
  readonly method: string;
  readonly scheme: "http" | "https";
  readonly place: Place;
  /** From `/` on. */
  readonly path: string;
  /** Without Content-Length. */
  readonly entries: readonly FieldEntry[];
  readonly body: SentBody;
  readonly timeouts: Timeouts;
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const;
const MAX_INTERIM = 16;
const LAST_CHUNK = bytesOf("0\r\n\r\n");
/** Fields of one connection, and what only the gate says: not the guest's. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authentication-info"],
  ...["transfer-encoding", "te", "trailer", "upgrade"],
]);

/** What exchanges of one run share. */
export interface Ways {
  readonly gate: GateWay;
  readonly idle: IdleWires;
  readonly ends: OpenEnds;
}

/**
 * Sends one request on a connection that nobody else uses and gives the response once its head is there. The contents go and come
 * as either side takes them. Aborting `signal` closes the connection.
 * @throws WireFailure
 */
export async function exchange(ways: Ways, request: HopRequest, signal: AbortSignal): Promise<ReceivedResponse> {
  const hop = new Hop(request, ways);
  if (signal.aborted) hop.abort(failureOfGate("closed"));
  signal.addEventListener("abort", () => hop.abort(failureOfGate("closed")), { once: true });
  try {
    return await hop.run();
  } catch (error) {
    const failure = hop.failure ?? failureOf(error);
    hop.abort(failure);
    throw failure;
  }
}

class Hop {
  readonly #request: HopRequest;
  readonly #ways: Ways;
  readonly #abort = new AbortController();
  #open: OpenWire | undefined;
  #isSent = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failure: WireFailure | undefined;
  #touch: () => void = () => {};
  #release: () => void = () => {};

  constructor(request: HopRequest, ways: Ways) {
    this.#request = request;
    this.#ways = ways;
    this.#release = ways.ends.keep(() => this.#end());
  }

  /** Why it was ended; the first reason stays. */
  get failure(): WireFailure | undefined {
    return this.#failure;
  }

  async run(): Promise<ReceivedResponse> {
    const { body, method, place, scheme } = this.#request;
    const framing = await this.#unlessAborted(body.framing());
    // Only what may be sent twice goes over a connection that the other side may have closed.
    const isRepeatable = framing.kind === "none" && /^(GET|HEAD|OPTIONS)$/.test(method);
    const idle = scheme === "https" && isRepeatable ? this.#ways.idle.take(place) : undefined;
    const answered = idle === undefined ? undefined : await this.#tryIdle(idle, framing);
    return answered ?? await this.#converse(await this.#connect(), framing);
  }

  /** Undefined when the other side had closed the connection: not a byte came. */
  async #tryIdle(idle: OpenWire, framing: Framing): Promise<ReceivedResponse | undefined> {
    try {
      return await this.#converse(idle, framing);
    } catch (error) {
      const isStale = error instanceof HeadFault ? error.kind === "end" : !(error instanceof WireFailure);
      if (this.#failure !== undefined || !isStale) throw error;
      closeQuietly(idle.wire);
      return undefined;
    }
  }

  async #connect(): Promise<OpenWire> {
    const { timeouts, scheme, place } = this.#request;
    const { gate } = this.#ways;
    const { signal } = this.#abort;
    this.#limit(timeouts.connectMs, { tag: "connection-timeout" });
    const open = await (scheme === "https" ? gate.openTls(place, signal) : gate.openPlain(signal));
    this.#unlimit();
    return open;
  }

  async #converse(open: OpenWire, framing: Framing): Promise<ReceivedResponse> {
    const { scheme, method, timeouts } = this.#request;
    this.#open = open;
    if (this.#failure !== undefined) throw this.abort(this.#failure);
    await writeWhole(open.wire, this.#encodeHead(framing));
    this.#limit(timeouts.firstByteMs, { tag: "HTTP-response-timeout" });
    void this.#send(open.wire, framing);
    const { status, head } = await readFinalHead(open.reader, scheme);
    this.#unlimit();
    const expected = responseFraming(method, status, head.fields);
    const contents = new BodyReader(open.reader, expected);
    const fields = head.fields.filter(([name]) => isPassed(name.toLowerCase()));
    const mayKeep = scheme === "https" && expected.kind !== "until_end" && head.line.startsWith("HTTP/1.1 ") &&
      valuesOf(head.fields, "connection").every((value) => !/close/i.test(value));
    const cancel = () => this.#end();
    return { status, fields, body: { pull: () => this.#pull(contents, mayKeep), cancel } };
  }

  /** Ends it: the connection is closed, and the guest's contents are not taken any more. Gives why. */
  abort(failure: WireFailure): WireFailure {
    this.#failure ??= failure;
    this.#release();
    this.#unlimit();
    this.#request.body.stop(this.#failure);
    this.#abort.abort();
    if (this.#open !== undefined) closeQuietly(this.#open.wire);
    return this.#failure;
  }

  /** Ends it, unless its connection is another's already. */
  #end(): void {
    this.abort(failureOfGate("closed"));
  }

  /** The response is whole: the connection is kept where it can be. */
  #finish(mayKeep: boolean): void {
    const open = this.#open;
    if (open !== undefined && mayKeep && this.#isSent && open.reader.buffered.length === 0) {
      this.#open = undefined;
      this.#ways.idle.put(this.#request.place, open);
    }
    this.#end();
  }

  async #send(wire: Wire, framing: Framing): Promise<void> {
    const { body } = this.#request;
    try {
      if (framing.kind === "none") return void (this.#isSent = true);
      for (let piece = await body.take(); piece !== undefined; piece = await body.take()) {
        if (framing.kind === "chunked") await writeWhole(wire, bytesOf(`${piece.length.toString(16)}\r\n`));
        await writeWhole(wire, piece);
        if (framing.kind === "chunked") await writeWhole(wire, bytesOf("\r\n"));
        this.#touch();
      }
      if (framing.kind === "chunked") await writeWhole(wire, LAST_CHUNK);
      this.#isSent = true;
    } catch (error) {
      // What the guest broke off ends all; a wire that takes no more may still bring the answer that says why.
      if (error instanceof WireFailure) this.abort(error);
      else body.stop(this.#failure ?? failureOfWire(error));
    }
  }

  async #pull(contents: BodyReader, mayKeep: boolean): Promise<Uint8Array | undefined> {
    this.#limit(this.#request.timeouts.betweenBytesMs, { tag: "connection-read-timeout" });
    try {
      const piece = await contents.next();
      if (piece === undefined) this.#finish(mayKeep);
      return piece;
    } catch (error) {
      const failure = this.#failure ?? failureOf(error, { tag: "HTTP-response-incomplete" });
      this.abort(failure);
      throw failure;
    } finally {
      this.#unlimit();
    }
  }

  #encodeHead(framing: Framing): Uint8Array {
    const { method, scheme, place, path, entries } = this.#request;
    const authority = place.port === DEFAULT_PORTS[scheme]
      ? formatPlace(place).replace(/:\d+$/, "")
      : formatPlace(place);
    const isPlain = scheme === "http";
    const lines = [
      `${method} ${isPlain ? `http://${formatPlace(place)}${path}` : path} HTTP/1.1`,
      `Host: ${authority}`,
      ...(isPlain ? [`Proxy-Authorization: ${this.#ways.gate.authorization}`] : []),
      ...entries.map(([name, value]) => `${name}: ${latin1(value)}`),
      ...framingLines(method, framing),
      ...(isPlain ? ["Connection: close"] : []),
    ];
    return bytesOf(lines.join("\r\n") + "\r\n\r\n");
  }

  #unlessAborted<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this.#abort;
    return new Promise((resolve, reject) => {
      const abort = () => reject(this.#failure);
      if (signal.aborted) abort();
      signal.addEventListener("abort", abort, { once: true });
      promise.then(resolve, reject);
    });
  }

  /** Ends it with `error` when nothing happens for so long. */
  #limit(ms: number | undefined, error: HttpError): void {
    this.#unlimit();
    if (ms === undefined) return;
    const start = () => setTimeout(() => this.abort(new WireFailure(error, "timeout")), ms);
    this.#timer = start();
    this.#touch = () => {
      clearTimeout(this.#timer);
      this.#timer = start();
    };
  }

  #unlimit(): void {
    clearTimeout(this.#timer);
    this.#touch = () => {};
  }
}

/** The first head that is not interim. @throws WireFailure when it is the gate's own and says why not; HeadFault */
async function readFinalHead(
  reader: WireReader,
  scheme: "http" | "https",
): Promise<{ readonly status: number; readonly head: Head }> {
  for (let count = 0; count <= MAX_INTERIM; count++) {
    const head = await readHead(reader);
    const status = Number(/^HTTP\/1\.[01] ([1-9]\d\d)(?: |$)/.exec(head.line)?.[1]);
    if (Number.isNaN(status) || status === 101) throw new HeadFault("syntax");
    // The gate lets no origin say this; inside a tunnel it would be the origin's word.
    const refusal = scheme === "http" ? valuesOf(head.fields, "x-boll-error")[0] : undefined;
    if (refusal !== undefined) throw failureOfGate(refusal);
    if (status >= 200) return { status, head };
  }
  throw new HeadFault("syntax");
}

function framingLines(method: string, framing: Framing): string[] {
  if (framing.kind === "chunked") return ["Transfer-Encoding: chunked"];
  if (framing.kind === "length") return [`Content-Length: ${framing.bytes}`];
  return /^(POST|PUT|PATCH)$/.test(method) ? ["Content-Length: 0"] : [];
}

function isPassed(name: string): boolean {
  return !NOT_PASSED.has(name) && !name.startsWith("x-boll-");
}

/** What was thrown while a response was read. */
function failureOf(error: unknown, atEnd: HttpError = { tag: "connection-terminated" }): WireFailure {
  if (!(error instanceof HeadFault)) return failureOfWire(error);
  if (error.kind === "size") return new WireFailure({ tag: "HTTP-response-header-section-size" }, "unknown");
  return new WireFailure(error.kind === "end" ? atEnd : { tag: "HTTP-protocol-error" }, "connection-reset");
}
