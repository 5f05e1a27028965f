import { findAnswerEnd, statusOf } from "./answer.ts";

/** A bounded number of requests to a port of this machine. */
export interface Load {
  readonly port: number;
  readonly connections: number;
  /** In all; each connection sends its share, one after the other. */
  readonly requests: number;
}

/** What the requests took, ms; one entry each. */
export interface LoadResult {
  /** From the sending to the first byte of the answer. */
  readonly firstByteMs: readonly number[];
  /** From the sending to its last byte. */
  readonly wholeMs: readonly number[];
  /** From the first sending to the last answer. */
  readonly elapsedMs: number;
}

const REQUEST = new TextEncoder().encode("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
const MAX_ANSWER_BYTES = 65_536;

/**
 * Sends the requests over connections that are opened before the clock starts and kept.
 *
 * @throws Error when an answer is not 200, or a connection ends before its answer did
 */
export async function send({ port, connections, requests }: Load): Promise<LoadResult> {
  const opening = Array.from({ length: connections }, () => Deno.connect({ hostname: "127.0.0.1", port }));
  const opened = await Promise.all(opening);
  const result = { firstByteMs: [] as number[], wholeMs: [] as number[] };
  try {
    for (const connection of opened) connection.setNoDelay(true);
    const startedAt = performance.now();
    const share = Math.ceil(requests / connections);
    await Promise.all(opened.map((connection) => askRepeatedly(connection, share, result)));
    return { ...result, elapsedMs: performance.now() - startedAt };
  } finally {
    for (const connection of opened) connection.close();
  }
}

async function askRepeatedly(
  connection: Deno.Conn,
  count: number,
  { firstByteMs, wholeMs }: { firstByteMs: number[]; wholeMs: number[] },
): Promise<void> {
  const buffer = new Uint8Array(MAX_ANSWER_BYTES);
  for (let left = count; left > 0; left--) {
    const askedAt = performance.now();
    await connection.write(REQUEST);
    let length = await readSome(connection, buffer, 0);
    firstByteMs.push(performance.now() - askedAt);
    while (findAnswerEnd(buffer.subarray(0, length)) === undefined) {
      length += await readSome(connection, buffer, length);
    }
    wholeMs.push(performance.now() - askedAt);
    const status = statusOf(buffer.subarray(0, length));
    if (status !== 200) throw new Error(`Load a service: found status ${status}, wanted 200`);
  }
}

async function readSome(connection: Deno.Conn, buffer: Uint8Array, from: number): Promise<number> {
  const count = await connection.read(buffer.subarray(from));
  if (!count) throw new Error(`Load a service: found an end after ${from} bytes, wanted a whole answer`);
  return count;
}
