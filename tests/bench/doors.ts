import { findAnswerEnd, statusOf } from "./answer.ts";
import type { Programs } from "./programs.ts";
import { type RunningService, type Service, startService } from "./service_process.ts";
import { percentile } from "./timing.ts";

/** How an A2A server answers messages whose work is nothing. */
export interface DoorTiming {
  readonly name: string;
  /** Messages over so many connections, each answered with its task whole. */
  readonly loads: readonly { readonly connections: number; readonly messagesPerSecond: number }[];
  /** From the sending of a message to the first event of its stream, and to its last; medians, ms. */
  readonly firstEventMs: number;
  readonly lastEventMs: number;
}

/** How much is measured. */
export interface DoorRounds {
  readonly bursts: number;
  /** Messages of one burst over one connection; more connections send four times as many. */
  readonly messages: number;
}

const CONNECTIONS = [1, 16] as const;
const MAX_ANSWER_BYTES = 65_536;
const FIRST_EVENT = new TextEncoder().encode("data: ");

/** The door and the SDK's own server, which is compared with, in turn. */
export async function timeDoors(programs: Programs, rounds: DoorRounds): Promise<DoorTiming[]> {
  const services: Service[] = [
    { name: "the SDK's server on Deno.serve", program: programs.sdkServer, args: (port) => [`${port}`] },
    { name: "the door", program: programs.doorServer, args: (port) => [`${port}`] },
  ];
  await using running = new AsyncDisposableStack();
  const started: RunningService[] = [];
  for (const service of services) started.push(running.use(await startService(service)));
  const found = services.map(() => ({
    rates: CONNECTIONS.map(() => [] as number[]),
    first: [] as number[],
    last: [] as number[],
  }));
  for (let burst = -1; burst < rounds.bursts; burst++) {
    for (const [at, { port }] of started.entries()) {
      const results = found[at]!;
      for (const [load, connections] of CONNECTIONS.entries()) {
        const count = connections === 1 ? rounds.messages : 4 * rounds.messages;
        const rate = await rateOf(port, connections, Math.ceil(count / connections));
        if (burst >= 0) results.rates[load]!.push(rate);
      }
      for (let stream = 0; stream < rounds.messages / 10; stream++) {
        const { firstMs, wholeMs } = await timeStream(port);
        if (burst >= 0) [results.first.push(firstMs), results.last.push(wholeMs)];
      }
    }
  }
  return services.map(({ name }, at) => ({
    name,
    loads: CONNECTIONS.map((connections, load) => ({
      connections,
      messagesPerSecond: percentile(found[at]!.rates[load]!, 50),
    })),
    firstEventMs: percentile(found[at]!.first, 50),
    lastEventMs: percentile(found[at]!.last, 50),
  }));
}

/** Messages per second over connections that are open before the clock starts. */
async function rateOf(port: number, connections: number, share: number): Promise<number> {
  const opened = await Promise.all(Array.from({ length: connections }, () => open(port)));
  try {
    const startedAt = performance.now();
    await Promise.all(opened.map(async (connection) => {
      for (let left = share; left > 0; left--) await exchange(connection, requestOf(port, "SendMessage"));
    }));
    return connections * share / (performance.now() - startedAt) * 1000;
  } finally {
    for (const connection of opened) connection.close();
  }
}

async function timeStream(port: number): Promise<{ firstMs: number; wholeMs: number }> {
  using connection = await open(port);
  return await exchange(connection, requestOf(port, "SendStreamingMessage"));
}

async function open(port: number): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  connection.setNoDelay(true);
  return connection;
}

/** Sends it and reads the answer to its end. @throws Error when it is no 200, or tells of an error */
async function exchange(connection: Deno.Conn, request: Uint8Array): Promise<{ firstMs: number; wholeMs: number }> {
  const buffer = new Uint8Array(MAX_ANSWER_BYTES);
  const askedAt = performance.now();
  await connection.write(request);
  let [length, firstMs] = [0, 0];
  do {
    const count = await connection.read(buffer.subarray(length));
    if (count === null) throw new Error("Load a door: the connection ended before its answer");
    length += count;
    if (firstMs === 0 && holds(buffer.subarray(0, length), FIRST_EVENT)) firstMs = performance.now() - askedAt;
  } while (findAnswerEnd(buffer.subarray(0, length)) === undefined);
  const wholeMs = performance.now() - askedAt;
  const answer = new TextDecoder().decode(buffer.subarray(0, length));
  if (statusOf(buffer) !== 200 || !answer.includes("TASK_STATE_COMPLETED")) {
    throw new Error(`Load a door: found ${answer.slice(0, 500)}`);
  }
  return { firstMs, wholeMs };
}

function holds(bytes: Uint8Array, wanted: Uint8Array): boolean {
  for (let at = bytes.indexOf(wanted[0]!); at >= 0; at = bytes.indexOf(wanted[0]!, at + 1)) {
    if (wanted.every((byte, offset) => bytes[at + offset] === byte)) return true;
  }
  return false;
}

const requests = new Map<string, Uint8Array>();

function requestOf(port: number, method: string): Uint8Array {
  const key = `${method} ${port}`;
  const known = requests.get(key);
  if (known !== undefined) return known;
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hello" }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { message } });
  const head = [
    ...["POST / HTTP/1.1", `host: 127.0.0.1:${port}`, "content-type: application/json", "a2a-version: 1.0"],
    `content-length: ${body.length}`,
  ].join("\r\n");
  const made = new TextEncoder().encode(`${head}\r\n\r\n${body}`);
  requests.set(key, made);
  return made;
}
