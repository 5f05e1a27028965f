import { type Head, HeadFault, readHead, valuesOf, type Wire, WireReader, writeWhole } from "../http1/mod.ts";
import type { Destination, Dialer } from "./dialer.ts";
import type { Budget, Exchange } from "./exchange.ts";
import { forwardRequest } from "./forward.ts";
import type { GateConnection, GateDenial, GateLimits } from "./options.ts";
import { type GateError, Refusal, refusalReply, reply } from "./refusal.ts";
import { type Authority, type ConnectRequest, formatAuthority, type ForwardRequest, readRequest } from "./request.ts";
import { runTunnel } from "./tunnel.ts";

/** What all connections of a gate share. */
export interface GateParts {
  /** The only value of `Proxy-Authorization` that is let in. */
  readonly authorization: string;
  readonly limits: GateLimits;
  readonly dialer: Dialer;
  readonly budget: Budget;
  /** `host:port` → why the last connection there was not made; bounded. */
  readonly failures: Map<string, GateError>;
  readonly counts: { unauthorized: number; malformed: number };
  readonly now: () => number;
  record(connection: GateConnection): void;
  deny(denial: GateDenial): void;
}

/** Everything about one client. */
export interface Client {
  readonly wire: Wire;
  readonly reader: WireReader;
  readonly exchange: Exchange;
}

const LINGER_MS = 1000;
const LINGER_BYTES = 4 * 1024 * 1024;
const MAX_FAILURES = 64;
const ESTABLISHED = new TextEncoder().encode("HTTP/1.1 200 Connection established\r\n\r\n");

/** Serves one connection to its end. Only a callback of the gate's owner makes it reject. */
export async function serveConnection(parts: GateParts, exchange: Exchange, wire: Wire): Promise<void> {
  const client: Client = { wire, reader: new WireReader(wire), exchange };
  try {
    exchange.watch(parts.limits.headTimeoutMs, "connection-timeout");
    const request = await readFirst(parts, client);
    if (request === undefined) return;
    exchange.unwatch();
    if (request.kind === "failure") return await tellFailure(parts, client, request);
    const destination = admitOrRemember(parts, client, request);
    await carry(parts, client, request, destination);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { asked, allow } = error;
    if (asked !== undefined) parts.deny({ grant: "net", asked, ...(allow !== undefined && { allow }) });
    await answerLast(client, refusalReply(error));
  } finally {
    exchange.end();
  }
}

/** The request of a known client. Undefined when it went away, or was too slow. */
async function readFirst({ limits, counts, authorization }: GateParts, client: Client) {
  try {
    const head = await readHead(client.reader, limits.headBytes);
    if (head === undefined) return undefined;
    if (!isAuthorized(head, authorization)) {
      counts.unauthorized++;
      throw new Refusal("unauthorized", "Enter the gate: found no credential of this gate");
    }
    return readRequest(head);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (!(error instanceof HeadFault)) return undefined;
    counts.malformed++;
    throw new Refusal("bad-request", `Read a request: found ${error.message}`);
  }
}

/** In a time that depends on the length of what was sent alone. */
function isAuthorized({ fields }: Head, wanted: string): boolean {
  const found = valuesOf(fields, "proxy-authorization");
  const text = found.length === 1 ? found[0]! : "";
  let difference = text.length ^ wanted.length;
  for (let index = 0; index < wanted.length; index++) {
    difference |= wanted.charCodeAt(index) ^ (text.charCodeAt(index) | 0);
  }
  return difference === 0;
}

/** Where the request may go; a refusal is remembered, for a client that cannot read the answer to its CONNECT. */
function admitOrRemember(parts: GateParts, client: Client, request: ForwardRequest | ConnectRequest): Destination {
  try {
    return admit(parts, client, request);
  } catch (error) {
    if (error instanceof Refusal) remember(parts.failures, formatAuthority(request), error.error);
    throw error;
  }
}

function admit({ dialer }: GateParts, { reader }: Client, request: ForwardRequest | ConnectRequest) {
  if (request.kind === "connect") return dialer.match(request.scheme, request);
  const asked = `http://${formatAuthority(request)}`;
  if (request.lie !== undefined) {
    throw new Refusal("bad-request", "Read a request: found a Host that is not the URL's", {
      asked: `${asked} with another Host`,
    });
  }
  const isWhole = request.framing.kind === "length" && request.framing.bytes === 0;
  if (isWhole && reader.buffered.length > 0) {
    throw new Refusal("bad-request", "Read a request: found bytes behind the one request of the connection");
  }
  return dialer.match("http", request);
}

/** Connects, passes everything on, and records how it went. */
async function carry(
  parts: GateParts,
  client: Client,
  request: ForwardRequest | ConnectRequest,
  destination: Destination,
): Promise<void> {
  const { exchange } = client;
  const started = parts.now();
  const place = formatAuthority(request);
  const record = (outcome: GateConnection["outcome"], address?: string, error = exchange.error) =>
    parts.record({
      scheme: destination.scheme,
      host: destination.host,
      port: destination.port,
      ...(address !== undefined && { address }),
      entry: destination.entry.text,
      outcome,
      ...(error !== undefined && { error }),
      bytes_up: exchange.bytesUp,
      bytes_down: exchange.bytesDown,
      duration_ms: Math.max(0, Math.round(parts.now() - started)),
    });
  const origin = await exchange.waitFor((signal) => parts.dialer.open(destination, signal)).catch((error) => {
    if (!(error instanceof Refusal)) throw error;
    remember(parts.failures, place, error.error);
    record(
      error.error === "destination-ip-prohibited" ? "refused" : "failed",
      undefined,
      exchange.error ?? error.error,
    );
    throw error;
  });
  parts.failures.delete(place);
  exchange.adopt(origin.wire);
  exchange.watch(parts.limits.idleTimeoutMs, "connection-timeout");
  try {
    if (request.kind === "connect") {
      await writeWhole(client.wire, ESTABLISHED);
      await runTunnel(exchange, client.wire, client.reader, origin);
    } else {
      const { wire, reader } = client;
      await forwardRequest({ exchange, client: wire, reader, origin, request, headBytes: parts.limits.headBytes });
    }
  } catch {
    exchange.end("connection-terminated");
  }
  record("opened", origin.address);
}

function remember(failures: Map<string, GateError>, place: string, error: GateError): void {
  failures.delete(place);
  failures.set(place, error);
  if (failures.size > MAX_FAILURES) failures.delete(failures.keys().next().value!);
}

async function tellFailure({ failures }: GateParts, client: Client, place: Authority): Promise<void> {
  await answerLast(client, reply(200, [], { error: failures.get(formatAuthority(place)) ?? null }));
}

/** Writes the last answer, and lets the client read it: closing on unread bytes would take it back. */
export async function answerLast({ wire, reader, exchange }: Client, answer: Uint8Array): Promise<void> {
  if (exchange.isOver) return;
  exchange.watch(LINGER_MS, "connection-timeout");
  try {
    await writeWhole(wire, answer);
    await wire.closeWrite();
    for (let drained = 0; drained < LINGER_BYTES;) {
      const bytes = await reader.next();
      if (bytes === undefined) return;
      drained += bytes.length;
    }
  } catch { /* it has gone, or the time is over */ }
}
