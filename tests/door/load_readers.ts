/**
 * A worker of `load.ts`: so many readers of one task, each of which checks that it misses nothing. It says `ready`, and at
 * the end of the task what each of them heard.
 */
import { request, WireConnection } from "./wire_client.ts";

/** What is read, and by how many. */
export interface Reading {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly task: string;
  readonly readers: number;
}

/** What the readers say at the end. */
export interface Heard {
  readonly heard: readonly number[];
  /** Events that were told to nobody of them between two that were. */
  readonly lost: number;
}

declare const self: { onmessage: (event: MessageEvent<Reading>) => void; postMessage(value: unknown): void };

self.onmessage = async ({ data }) => {
  const connections = await Promise.all(Array.from({ length: data.readers }, () => subscribe(data)));
  const reading = connections.map(readAll);
  self.postMessage("ready");
  const counts = await Promise.all(reading);
  const heard = counts.map(({ count }) => count);
  self.postMessage({ heard, lost: counts.reduce((sum, { lost }) => sum + lost, 0) } satisfies Heard);
};

async function subscribe({ port, headers, task }: Reading): Promise<WireConnection> {
  const connection = await WireConnection.open(port);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id: task } });
  await connection.send(request(port, { headers, body }));
  const { status } = await connection.head();
  if (status !== 200) throw new Error(`a reader was answered ${status}`);
  return connection;
}

/** Every event has the number after the one before it. */
async function readAll(connection: WireConnection): Promise<{ count: number; lost: number }> {
  let [count, last, lost] = [0, 0, 0];
  for await (const { id, type } of connection.events()) {
    if (type === "comment") continue;
    const number = Number(id?.split("-")[1]);
    if (Number.isNaN(number)) continue;
    if (last > 0) lost += number - last - 1;
    [count, last] = [count + 1, number];
  }
  connection[Symbol.dispose]();
  return { count, lost };
}
