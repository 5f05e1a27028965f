import { parseNetEntry } from "../grants/mod.ts";
import {
  type Connect,
  type Gate,
  type GateConnection,
  type GateDenial,
  type GateOptions,
  openGate,
  type Wire,
} from "./mod.ts";

/** A gate under test, and what it said. */
export interface TestGate extends AsyncDisposable {
  readonly gate: Gate;
  readonly connections: GateConnection[];
  readonly denials: GateDenial[];
}

/** What a test gate is opened with: entries as texts, names as a table. */
export interface TestGateOptions extends Partial<Omit<GateOptions, "entries">> {
  readonly entries: readonly string[];
  readonly names?: Readonly<Record<string, readonly string[]>>;
}

export function openTestGate({ entries, names = {}, ...options }: TestGateOptions): TestGate {
  const connections: GateConnection[] = [];
  const denials: GateDenial[] = [];
  const gate = openGate({
    entries: entries.map(parseNetEntry),
    resolve: (name) => {
      const found = names[name];
      return found === undefined ? Promise.reject(new Error("unknown name")) : Promise.resolve(found);
    },
    onConnection: (connection) => connections.push(connection),
    onDenied: (denial) => denials.push(denial),
    ...options,
  });
  return { gate, connections, denials, [Symbol.asyncDispose]: () => gate.close() };
}

/** A server on loopback that does one thing with each connection, and keeps every byte that came. */
export interface Origin extends AsyncDisposable {
  readonly port: number;
  /** Connections so far. */
  readonly count: number;
  /** All that came, over all connections. */
  readonly received: string;
}

export type Serve = (connection: Deno.Conn, head: string) => Promise<void> | void;

/** Answers each connection, once a whole head has come, with `answer`, and closes. */
export function openOrigin(answer: string | Serve, hostname = "127.0.0.1"): Origin {
  const listener = Deno.listen({ hostname, port: 0 });
  const state = { count: 0, received: "" };
  const live = new Set<Deno.Conn>();
  const serving: Promise<void>[] = [];
  const serveOne = async (connection: Deno.Conn) => {
    try {
      const head = await readUntil(connection, "\r\n\r\n", (text) => state.received += text);
      if (typeof answer === "string") await write(connection, answer);
      else await answer(connection, head);
    } catch { /* a client that goes away is a test's own matter */ }
    live.delete(connection);
    close(connection);
  };
  const accepting = (async () => {
    for await (const connection of listener) {
      state.count++;
      live.add(connection);
      serving.push(serveOne(connection));
    }
  })();
  return {
    port: listener.addr.port,
    get count() {
      return state.count;
    },
    get received() {
      return state.received;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      live.forEach(close);
      await accepting;
      await Promise.all(serving);
    },
  };
}

/** Goes to the origin whatever address is asked for, and says to have reached that address; keeps what was asked. */
export function connectTo(origin: Pick<Origin, "port">): Connect & { readonly asked: string[] } {
  const asked: string[] = [];
  const connect: Connect = async (address, port, signal) => {
    asked.push(`${address} ${port}`);
    const connection = await Deno.connect({ port: origin.port, signal });
    return pretendPeer(connection, address, port);
  };
  return Object.assign(connect, { asked });
}

export function pretendPeer(connection: Deno.Conn, hostname: string, port: number): Wire {
  return {
    read: (into) => connection.read(into),
    write: (bytes) => connection.write(bytes),
    closeWrite: () => connection.closeWrite(),
    close: () => connection.close(),
    remoteAddr: { transport: "tcp", hostname, port },
  };
}

/** Sends a text to the gate as it is, and reads until the gate closes. */
export async function talk(gate: Gate, text: string): Promise<string> {
  const connection = await Deno.connect({ port: gate.port });
  try {
    await write(connection, text).catch(() => {});
    return await readAll(connection);
  } finally {
    close(connection);
  }
}

/** A request line and fields with this gate's credential, as they go over the wire. */
export function withCredential(gate: Gate, line: string, ...fields: string[]): string {
  return [line, `Proxy-Authorization: ${gate.authorization}`, ...fields, "", ""].join("\r\n");
}

/** An absolute-form GET. */
export function get(gate: Gate, url: string, ...fields: string[]): string {
  return withCredential(gate, `GET ${url} HTTP/1.1`, `Host: ${new URL(url).host}`, ...fields);
}

/** A CONNECT. */
export function connect(gate: Gate, authority: string, ...fields: string[]): string {
  return withCredential(gate, `CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`, ...fields);
}

/** The status of an answer, and the value of one field. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0);
}

export function fieldOf(answer: string, name: string): string | undefined {
  const [head = ""] = answer.split("\r\n\r\n");
  return new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim();
}

export async function readAll(connection: Deno.Conn): Promise<string> {
  let text = "";
  const buffer = new Uint8Array(65_536);
  try {
    for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
      text += String.fromCharCode(...buffer.subarray(0, count));
    }
  } catch { /* a reset is an end as well */ }
  return text;
}

/** Reads until a text has come, or the end. */
export async function readUntil(connection: Deno.Conn, mark: string, seen?: (text: string) => void): Promise<string> {
  let text = "";
  const buffer = new Uint8Array(65_536);
  while (!text.includes(mark)) {
    const count = await connection.read(buffer);
    if (count === null) break;
    const more = String.fromCharCode(...buffer.subarray(0, count));
    text += more;
    seen?.(more);
  }
  return text;
}

export async function write(connection: Deno.Conn, text: string): Promise<void> {
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

export function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch { /* closed */ }
}

/** A public address that no test ever reaches. */
export const PUBLIC = "93.184.216.34";

export const HELLO = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
