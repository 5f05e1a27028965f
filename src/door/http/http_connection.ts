import {
  BodyDecoder,
  ChunkEncoder,
  encodeHead,
  type Field,
  type Framing,
  framingOf,
  type Head,
  HeadFault,
  isToken,
  LAST_CHUNK,
  readHead,
  valuesOf,
  type Wire,
  WireReader,
  writeWhole,
} from "../../http1/mod.ts";
import type { Clock } from "../clock.ts";
import { BodyFault, type HttpReply, type HttpRequest, refusalReply } from "./http_message.ts";
import type { DoorLimits } from "../limits.ts";

/** What all connections of a server share. */
export interface ConnectionParts {
  readonly limits: DoorLimits;
  readonly clock: Clock;
  /** Answers one request. Never rejects. */
  handle(request: HttpRequest): Promise<HttpReply>;
  /** Told when a connection's client has shown who it is. */
  onVouched(connection: HttpConnection): void;
}

/** A body above that is not copied to go out with its head, bytes. */
const MAX_JOINED = 64 * 1024;
const LINGER_MS = 1_000;
const LINGER_BYTES = 1024 * 1024;
const CONTINUE = new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n");

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  421: "Misdirected Request",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  503: "Service Unavailable",
  505: "HTTP Version Not Supported",
};

/** A request line and its fields, in order. */
interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly isOld: boolean;
  readonly keepsAlive: boolean;
  readonly framing: Framing | undefined;
  readonly fields: readonly Field[];
}

/**
 * One connection: its requests one after the other, each within its time and its size. `Deno.serve` bounds neither how
 * long a head or body takes nor how many connections wait, and reads two framings, bare line feeds and no `Host` as fine.
 */
export class HttpConnection {
  readonly #parts: ConnectionParts;
  readonly #wire: Wire;
  readonly #reader: WireReader;
  #filling: Promise<boolean> | undefined;
  #deadline: number | undefined;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;
  #abort = new AbortController();
  #isVouched = false;
  #isClosed = false;
  #isFirst = true;
  #isLast = false;
  #isBusy = false;
  #answers = 0;
  #writing: Promise<unknown> | undefined;
  #letGo: (() => void) | undefined;

  constructor(parts: ConnectionParts, wire: Wire) {
    this.#parts = parts;
    this.#wire = wire;
    this.#reader = new WireReader(wire);
  }

  /** Whether a request is under way. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** When its socket is gone: one that is closed within a write stays until its client takes the bytes or goes. */
  get released(): Promise<unknown> {
    return Promise.resolve(this.#writing).catch(() => {});
  }

  /** Serves it to its end. Never rejects. */
  async serve(): Promise<void> {
    try {
      this.#watch(this.#parts.limits.requestMs);
      while (await this.#serveNext() && !this.#isLast);
    } catch {
      /* the client went, or was too slow */
    } finally {
      this.close();
    }
  }

  /** No further request is taken: it closes with the answer of the one that is under way, or now. */
  finish(): void {
    this.#isLast = true;
    if (!this.#isBusy) this.close();
  }

  /** Closes it now. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#abort.abort();
    try {
      this.#wire.close();
    } catch { /* it is closed */ }
    this.#letGo?.();
  }

  /** One request and its answer; false when there is no further one. */
  async #serveNext(): Promise<boolean> {
    if (this.#reader.buffered.length === 0 && !await this.#fill()) return false;
    if (!this.#isFirst) this.#watch(this.#parts.limits.requestMs);
    this.#isFirst = false;
    this.#isBusy = true;
    try {
      return await this.#answerNext();
    } finally {
      this.#isBusy = false;
    }
  }

  async #answerNext(): Promise<boolean> {
    let head: RequestHead;
    try {
      const read = await readHead(this.#reader, this.#parts.limits.headBytes);
      if (read === undefined) return false;
      head = parseRequest(read);
    } catch (error) {
      if (!(error instanceof HeadFault)) throw error;
      await this.#answerLast(faultReply(error, this.#parts.limits.headBytes));
      return false;
    }
    const body = new RequestBody(head, this.#reader, { write: (bytes) => this.#take(bytes) });
    const reply = await this.#parts.handle(this.#requestOf(head, body));
    try {
      return await this.#answerWhole(reply, head, body);
    } finally {
      this.released.then(reply.onGone);
    }
  }

  async #answerWhole(reply: HttpReply, head: RequestHead, body: RequestBody): Promise<boolean> {
    if (!this.#isVouched && ++this.#answers >= this.#parts.limits.unknownRequests) this.#isLast = true;
    if (!body.isTaken || !head.keepsAlive || this.#isLast) {
      await this.#answerLast(reply, head);
      return false;
    }
    await this.#answer(reply, head, true);
    this.#watch(this.#isVouched ? this.#parts.limits.idleMs : this.#parts.limits.requestMs);
    return true;
  }

  #requestOf(head: RequestHead, body: RequestBody): HttpRequest {
    const at = head.target.indexOf("?");
    if (body.isTaken) this.#onBodyTaken();
    return {
      method: head.method,
      path: at < 0 ? head.target : head.target.slice(0, at),
      query: new URLSearchParams(at < 0 ? "" : head.target.slice(at + 1)),
      header: (name) => {
        const values = valuesOf(head.fields, name);
        return values.length === 0 ? undefined : values.join(", ");
      },
      hasBody: !body.isTaken,
      bodyBytes: head.framing === undefined ? 0 : head.framing.kind === "length" ? head.framing.bytes : undefined,
      readBody: async (maxBytes) => {
        const bytes = await body.read(maxBytes);
        this.#onBodyTaken();
        return bytes;
      },
      vouch: () => {
        if (this.#isVouched) return;
        this.#isVouched = true;
        this.#parts.onVouched(this);
      },
      signal: this.#abort.signal,
    };
  }

  /** The request is whole. Its client may say no more and still read: it is given up when it is silent for long. */
  #onBodyTaken(): void {
    this.#unwatch();
    // Only while nothing is buffered: whoever takes bytes away under a read would move what it reads.
    if (this.#reader.buffered.length > 0) return;
    this.#fill().then((isMore) => {
      if (!isMore) this.#watch(this.#parts.limits.requestMs);
    }, () => this.close());
  }

  /** Reads more, once for all who ask meanwhile. */
  #fill(): Promise<boolean> {
    return this.#filling ??= this.#reader.fill().finally(() => this.#filling = undefined);
  }

  /** Closes the connection unless something else is watched, or nothing, within that time. */
  #watch(ms: number): void {
    this.#deadline = this.#parts.clock.now() + ms;
    if (this.#timer !== undefined && this.#timer.at <= this.#deadline) return;
    this.#timer?.cancel();
    this.#arm(ms);
  }

  #unwatch(): void {
    this.#deadline = undefined;
  }

  /** One timer is moved when it is due, not with each step: there are several in a request. */
  #arm(ms: number): void {
    if (this.#isClosed) return;
    const cancel = this.#parts.clock.after(ms, () => {
      this.#timer = undefined;
      const left = this.#deadline === undefined ? undefined : this.#deadline - this.#parts.clock.now();
      if (left === undefined) return;
      if (left <= 0) this.close();
      else this.#arm(left);
    });
    this.#timer = { at: this.#parts.clock.now() + ms, cancel };
  }

  async #answer(reply: HttpReply, head: RequestHead | undefined, keepsAlive: boolean): Promise<void> {
    const { status, fields, body } = reply;
    const isWhole = body instanceof Uint8Array;
    const framing: Field[] = isWhole
      ? [["content-length", String(body.length)]]
      : head?.isOld
      ? []
      : [["transfer-encoding", "chunked"]];
    const all: Field[] = [
      ["date", new Date(this.#parts.clock.now()).toUTCString()],
      ["x-content-type-options", "nosniff"],
      ...(fields.some(([name]) => name === "cache-control") ? [] : [["cache-control", "no-store"] as const]),
      ...fields,
      ...framing,
      ...(keepsAlive ? [] : [["connection", "close"] as const]),
    ];
    const first = encodeHead(`HTTP/1.1 ${status} ${REASONS[status] ?? "Status"}`, all);
    if (isWhole) {
      if (head?.method === "HEAD") return await this.#write(first);
      if (body.length <= MAX_JOINED) return await this.#write(joined(first, body));
      await this.#write(first);
      return await this.#write(body);
    }
    const chunks = head?.isOld ? undefined : new ChunkEncoder();
    // Begun also when its client is gone by now: whoever made the body counts on its end.
    const begun = this.#write(first);
    begun.catch(() => {});
    await body((bytes) => begun.then(() => this.#write(chunks?.encode(bytes) ?? bytes)));
    await begun;
    if (chunks !== undefined) await this.#write(LAST_CHUNK);
  }

  /** Writes the last answer and lets the client read it: closing on unread bytes would take it back. */
  async #answerLast(reply: HttpReply, head?: RequestHead): Promise<void> {
    await this.#answer(reply, head, false);
    this.#watch(LINGER_MS);
    await this.#wire.closeWrite();
    for (let drained = 0; drained < LINGER_BYTES;) {
      if (this.#reader.buffered.length === 0 && !await this.#fill()) return;
      drained += this.#reader.buffered.length;
      this.#reader.take(this.#reader.buffered.length);
    }
  }

  /** All of it; the connection closes when its client takes nothing for too long. */
  async #write(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      this.#watch(this.#parts.limits.writeMs);
      written += await this.#take(bytes.subarray(written));
    }
    this.#unwatch();
  }

  /** What the client takes of it. The runtime ends a read when its connection is closed, and a write not. */
  #take(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#letGo = () => reject(new Deno.errors.BadResource());
      this.#writing = this.#wire.write(bytes);
      this.#writing.then(resolve as (count: unknown) => void, reject);
    });
  }
}

/** A body that is taken out of its framing when somebody wants it. */
class RequestBody {
  readonly #head: RequestHead;
  readonly #reader: WireReader;
  readonly #wire: Pick<Wire, "write">;
  readonly #decoder: BodyDecoder | undefined;

  constructor(head: RequestHead, reader: WireReader, wire: Pick<Wire, "write">) {
    this.#head = head;
    this.#reader = reader;
    this.#wire = wire;
    this.#decoder = head.framing && new BodyDecoder(head.framing);
  }

  /** Whether nothing of it is left on the wire. */
  get isTaken(): boolean {
    return this.#decoder?.isDone ?? true;
  }

  /** @throws {BodyFault} */
  async read(maxBytes: number): Promise<Uint8Array> {
    const { framing } = this.#head;
    if (framing?.kind === "length" && framing.bytes > maxBytes) throw tooLarge(maxBytes);
    if (this.#decoder === undefined) return new Uint8Array(0);
    const isAsked = valuesOf(this.#head.fields, "expect").some((value) => value.toLowerCase() === "100-continue");
    if (isAsked && !this.#head.isOld && !this.isTaken) await writeWhole(this.#wire, CONTINUE);
    const pieces: Uint8Array[] = [];
    let length = 0;
    while (!this.#decoder.isDone) {
      if (this.#reader.buffered.length === 0 && !await this.#reader.fill()) {
        throw new BodyFault("broken", "the request ended within its body");
      }
      const { data, taken } = this.#decode();
      length += data.length;
      if (length > maxBytes) throw tooLarge(maxBytes);
      pieces.push(data.slice());
      this.#reader.take(taken);
    }
    return pieces.length === 1 ? pieces[0]! : joined(...pieces);
  }

  #decode(): ReturnType<BodyDecoder["decode"]> {
    try {
      return this.#decoder!.decode(this.#reader.buffered);
    } catch (error) {
      if (error instanceof HeadFault) throw new BodyFault("broken", error.message);
      throw error;
    }
  }
}

/** @throws {HeadFault} */
function parseRequest({ line, fields }: Head): RequestHead {
  const [method = "", target = "", version = "", ...more] = line.split(" ");
  if (!isToken(method) || method.length > 32 || more.length > 0) throw new HeadFault("no request line");
  if (version !== "HTTP/1.1" && version !== "HTTP/1.0") throw new HeadFault("a version that is not HTTP/1.1");
  // Only the origin form: an absolute one could name another host than `Host` does.
  if (!/^\/[\x21\x22\x24-\x7e]*$/.test(target)) throw new HeadFault("a target that is no path");
  const hosts = valuesOf(fields, "host");
  if (hosts.length !== 1) throw new HeadFault("not exactly one Host field");
  const isOld = version === "HTTP/1.0";
  const options = valuesOf(fields, "connection").flatMap((value) => value.toLowerCase().split(/[\t ]*,[\t ]*/));
  return {
    method,
    target,
    isOld,
    keepsAlive: !isOld && !options.includes("close"),
    framing: framingOf(fields),
    fields,
  };
}

function faultReply({ message }: HeadFault, headBytes: number): HttpReply {
  const isLong = message === `the head is longer than ${headBytes} bytes`;
  return refusalReply(
    isLong ? 431 : 400,
    isLong ? "head_too_large" : "bad_request",
    `Read a request: found ${message}`,
  );
}

function tooLarge(maxBytes: number): BodyFault {
  return new BodyFault("too_large", `the body is longer than ${maxBytes} bytes`);
}

function joined(...pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
