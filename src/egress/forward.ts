import {
  BodyDecoder,
  ChunkEncoder,
  encodeHead,
  type Field,
  type Framing,
  framingField,
  framingOf,
  type Head,
  HeadFault,
  LAST_CHUNK,
  readHead,
  type Wire,
  type WireReader,
  writeWhole,
} from "../http1/mod.ts";
import { endToEnd } from "./end_to_end.ts";
import type { Dialed } from "./dialer.ts";
import type { Exchange } from "./exchange.ts";
import { Refusal, refusalReply } from "./refusal.ts";
import type { ForwardRequest } from "./request.ts";

const MAX_INTERIM = 16;
const LINGER_MS = 1000;
const NO_BODY: Framing = { kind: "length", bytes: 0 };
const NOTHING = new Uint8Array(0);
const CLOSE: Field = ["connection", "close"];

/** One plain request on its way: both wires, and how far either side is. */
export interface Forwarding {
  readonly exchange: Exchange;
  readonly client: Wire;
  readonly reader: WireReader;
  readonly origin: Dialed;
  readonly request: ForwardRequest;
  readonly headBytes: number;
}

/** How far a request and its response are. */
interface Progress {
  isSent: boolean;
  isAnswerBegun: boolean;
  /** Something went wrong, and the client's wire is for saying so. */
  isRefused: boolean;
}

/**
 * Passes one request on and its response back, both out of their framing and into it again, so that what the two sides
 * take for one message is one. A second request never reaches the origin: a byte behind the first ends the exchange.
 * What goes wrong is told to the client while no response has begun, kept in the exchange, and never thrown.
 */
export async function forwardRequest(forwarding: Forwarding): Promise<void> {
  const { exchange, client } = forwarding;
  const progress: Progress = { isSent: false, isAnswerBegun: false, isRefused: false };
  const answered = receive(forwarding, progress);
  const sent = send(forwarding, progress);
  try {
    await Promise.race([answered, sent]);
    exchange.endOrigin();
  } catch (error) {
    const refusal = asRefusal(error);
    progress.isRefused = true;
    exchange.fail(refusal.error);
    exchange.endOrigin();
    if (progress.isAnswerBegun) exchange.end();
    else await writeWhole(client, refusalReply(refusal)).catch(() => {});
  }
  // Closing with unread bytes of the client's would take the answer back out of its hands.
  if (!progress.isSent && !exchange.isOver) {
    exchange.watch(LINGER_MS, "connection-terminated");
    await client.closeWrite().catch(() => {});
    await sent.catch(() => {});
  }
  exchange.end();
  await Promise.allSettled([answered, sent]);
}

function asRefusal(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal("connection-terminated", "Pass a message on: a side has gone");
}

/** Sends the request, then watches that nothing follows it. Never resolves while all is well; an origin that has gone is `receive`'s to tell. */
async function send({ exchange, reader, origin, request }: Forwarding, progress: Progress): Promise<never> {
  let isOriginGone = false;
  const put = async (bytes: Uint8Array) => {
    if (isOriginGone) return;
    await writeWhole(origin.wire, bytes).then(() => exchange.touch(), () => isOriginGone = true);
  };
  const chunks = request.framing.kind === "chunked" ? new ChunkEncoder() : undefined;
  try {
    await put(request.head);
    for await (const data of readBody(reader, request.framing)) {
      exchange.count("up", data.length);
      await put(chunks?.encode(data) ?? data);
    }
    if (reader.buffered.length > 0) throw new HeadFault(SECOND);
    if (chunks !== undefined) await put(LAST_CHUNK);
    progress.isSent = true;
    if (await reader.next() !== undefined) throw new HeadFault(SECOND);
  } catch (error) {
    if (error instanceof HeadFault) throw new Refusal("bad-request", `Read a request: found ${error.message}`);
    throw error;
  }
  throw new Refusal("connection-terminated", "Pass a response on: its reader has gone");
}

const SECOND = "bytes behind the one request of the connection";

async function receive(forwarding: Forwarding, progress: Progress): Promise<void> {
  const { request } = forwarding;
  try {
    const { status, head } = await readFinalHead(forwarding);
    const declared = framingOf(head.fields);
    const isBodyless = request.method === "HEAD" || status === 204 || status === 304;
    const framing: Framing = declared ?? { kind: "until_end" };
    // A length beside no body is what a body would have had; 204 has none.
    const described = isBodyless && (status === 204 || framing.kind === "chunked") ? [] : framingField(framing);
    const fields = [...endToEnd(head.fields), ...described, CLOSE];
    await sendAnswer(forwarding, progress, encodeHead(head.line, fields), isBodyless ? NO_BODY : framing);
  } catch (error) {
    if (error instanceof HeadFault) throw new Refusal("http-protocol-error", `Read a response: found ${error.message}`);
    throw error;
  }
}

/** A response to the client. The head goes out with what there is of the body already: each write is a call to the system. */
async function sendAnswer(forwarding: Forwarding, progress: Progress, head: Uint8Array, framing: Framing) {
  const { exchange, client, origin } = forwarding;
  let before = head;
  const put = async (piece: Uint8Array) => {
    if (progress.isRefused) throw new Refusal("connection-terminated", "Pass a response on: it was refused");
    progress.isAnswerBegun = true;
    const bytes = before.length === 0 ? piece : join(before, piece);
    before = NOTHING;
    await writeWhole(client, bytes);
    exchange.touch();
  };
  if (origin.reader.buffered.length === 0) await put(NOTHING);
  const chunks = framing.kind === "chunked" ? new ChunkEncoder() : undefined;
  for await (const data of readBody(origin.reader, framing)) {
    exchange.count("down", data.length);
    await put(chunks?.encode(data) ?? data);
  }
  await put(chunks === undefined ? NOTHING : LAST_CHUNK);
}

function join(left: Uint8Array, right: Uint8Array): Uint8Array {
  const both = new Uint8Array(left.length + right.length);
  both.set(left);
  both.set(right, left.length);
  return both;
}

/** The first head that is not interim; the interim ones before it are passed on. */
async function readFinalHead({ client, origin, headBytes }: Forwarding): Promise<{ status: number; head: Head }> {
  for (let count = 0; count <= MAX_INTERIM; count++) {
    const head = await readHead(origin.reader, headBytes);
    if (head === undefined) throw new Refusal("connection-terminated", "Read a response: the origin closed before one");
    const [, digits, reason = ""] = /^HTTP\/1\.[01] ([1-9][0-9]{2})(?: (.*))?$/.exec(head.line) ?? [];
    if (digits === undefined) throw new HeadFault("no status line");
    const status = Number(digits);
    if (status === 101) throw new HeadFault("a switch of protocols that nobody asked for");
    const answer = { line: `HTTP/1.1 ${status} ${reason}`, fields: head.fields };
    if (status >= 200) return { status, head: answer };
    await writeWhole(client, encodeHead(answer.line, endToEnd(answer.fields)));
  }
  throw new HeadFault(`more than ${MAX_INTERIM} interim responses`);
}

/** The data of one body, piece by piece; each is valid until the next. What stands behind the body stays in the reader. */
async function* readBody(reader: WireReader, framing: Framing): AsyncGenerator<Uint8Array> {
  const decoder = new BodyDecoder(framing);
  while (!decoder.isDone) {
    if (reader.buffered.length === 0 && !await reader.fill()) {
      if (framing.kind === "until_end") return;
      throw new Refusal("connection-terminated", "Read a body: the stream ended within it");
    }
    const { data, taken } = decoder.decode(reader.buffered);
    if (data.length > 0) yield data;
    reader.take(taken);
  }
}
