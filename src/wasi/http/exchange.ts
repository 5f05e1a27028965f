import { failureOfGate, failureOfWire } from "../net/gate_error.ts";
import { formatPlace, type GateWay, type OpenWire, type Place } from "../net/gate_way.ts";
import { bytesOf, type Head, HeadFault, latin1, readHead, valuesOf } from "../net/head.ts";
import { type Wire, type WireReader, writeWhole } from "../net/wire.ts";
import { WireFailure } from "../net/wire_failure.ts";
import { BodyReader, type Framing, responseFraming } from "./body_reader.ts";
import type { FieldEntry } from "./fields.ts";
import type { HttpError } from "./http_error.ts";
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

/**
 * Sends one request on a connection of its own and gives the response once its head is there. The contents go and come
 * as either side takes them. Aborting `signal` closes the connection.
 * @throws WireFailure
 */
export async function exchange(way: GateWay, request: HopRequest, signal: AbortSignal): Promise<ReceivedResponse> {
  const hop = new Hop(request);
  if (signal.aborted) hop.abort(failureOfGate("closed"));
  signal.addEventListener("abort", () => hop.abort(failureOfGate("closed")), { once: true });
  try {
    return await hop.run(way);
  } catch (error) {
    const failure = hop.failure ?? failureOf(error);
    hop.abort(failure);
    throw failure;
  }
}

class Hop {
  readonly #request: HopRequest;
  readonly #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failure: WireFailure | undefined;
  #touch: () => void = () => {};

  constructor(request: HopRequest) {
    this.#request = request;
  }

  /** Why it was ended; the first reason stays. */
  get failure(): WireFailure | undefined {
    return this.#failure;
  }

  async run(way: GateWay): Promise<ReceivedResponse> {
    const { timeouts, body } = this.#request;
    this.#limit(timeouts.connectMs, { tag: "connection-timeout" });
    const { wire, reader } = await this.#open(way);
    this.#unlimit();
    const framing = await Promise.race([body.framing(), this.#aborted()]);
    await writeWhole(wire, this.#encodeHead(way, framing));
    this.#limit(timeouts.firstByteMs, { tag: "HTTP-response-timeout" });
    void this.#send(wire, framing);
    const { status, head } = await readFinalHead(reader, this.#request.scheme);
    this.#unlimit();
    const contents = new BodyReader(reader, responseFraming(this.#request.method, status, head.fields));
    const fields = head.fields.filter(([name]) => isPassed(name.toLowerCase()));
    const cancel = () => this.abort(failureOfGate("closed"));
    return { status, fields, body: { pull: () => this.#pull(contents), cancel } };
  }

  /** Ends it: the connection is closed, and the guest's contents are not taken any more. */
  abort(failure: WireFailure): void {
    this.#failure ??= failure;
    this.#unlimit();
    this.#request.body.stop(this.#failure);
    this.#abort.abort();
  }

  #open(way: GateWay): Promise<OpenWire> {
    const { scheme, place } = this.#request;
    return scheme === "https" ? way.openTls(place, this.#abort.signal) : way.openPlain(this.#abort.signal);
  }

  async #send(wire: Wire, framing: Framing): Promise<void> {
    const { body } = this.#request;
    try {
      if (framing.kind === "none") return;
      for (let piece = await body.take(); piece !== undefined; piece = await body.take()) {
        if (framing.kind === "chunked") await writeWhole(wire, bytesOf(`${piece.length.toString(16)}\r\n`));
        await writeWhole(wire, piece);
        if (framing.kind === "chunked") await writeWhole(wire, bytesOf("\r\n"));
        this.#touch();
      }
      if (framing.kind === "chunked") await writeWhole(wire, LAST_CHUNK);
    } catch (error) {
      // What the guest broke off ends all; a wire that takes no more may still bring the answer that says why.
      if (error instanceof WireFailure) this.abort(error);
      else body.stop(this.#failure ?? failureOfWire(error));
    }
  }

  async #pull(contents: BodyReader): Promise<Uint8Array | undefined> {
    this.#limit(this.#request.timeouts.betweenBytesMs, { tag: "connection-read-timeout" });
    try {
      const piece = await contents.next();
      if (piece === undefined) this.abort(failureOfGate("closed"));
      return piece;
    } catch (error) {
      const failure = this.#failure ?? failureOf(error, { tag: "HTTP-response-incomplete" });
      this.abort(failure);
      throw failure;
    } finally {
      this.#unlimit();
    }
  }

  #encodeHead(way: GateWay, framing: Framing): Uint8Array {
    const { method, scheme, place, path, entries } = this.#request;
    const authority = place.port === DEFAULT_PORTS[scheme]
      ? formatPlace(place).replace(/:\d+$/, "")
      : formatPlace(place);
    const isPlain = scheme === "http";
    const lines = [
      `${method} ${isPlain ? `http://${formatPlace(place)}${path}` : path} HTTP/1.1`,
      `Host: ${authority}`,
      ...(isPlain ? [`Proxy-Authorization: ${way.authorization}`] : []),
      ...entries.map(([name, value]) => `${name}: ${latin1(value)}`),
      ...framingLines(method, framing),
      "Connection: close",
    ];
    return bytesOf(lines.join("\r\n") + "\r\n\r\n");
  }

  #aborted(): Promise<never> {
    return new Promise((_, reject) => {
      if (this.#abort.signal.aborted) reject(this.#failure);
      this.#abort.signal.addEventListener("abort", () => reject(this.#failure), { once: true });
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
