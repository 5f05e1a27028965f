import { WireReader } from "../http1/mod.ts";
import { assert, assertEquals } from "@std/assert";
import { Exchange } from "./exchange.ts";
import {
  close,
  connect,
  connectTo,
  fieldOf,
  get,
  HELLO,
  openOrigin,
  openTestGate,
  type Origin,
  PUBLIC,
  readAll,
  readUntil,
  statusOf,
  talk,
  type TestGate,
  withCredential,
  write,
} from "./gate_fixture.ts";
import type { Wire } from "./mod.ts";
import { runTunnel } from "./tunnel.ts";

function openTo(origin: Origin, limits = {}): TestGate {
  return openTestGate({
    entries: ["http://a.test", "tcp://a.test:1"],
    resolve: () => Promise.resolve([PUBLIC]),
    connect: connectTo(origin),
    limits,
  });
}

async function openTunnel(test: TestGate): Promise<Deno.Conn> {
  const connection = await Deno.connect({ port: test.gate.port });
  await write(connection, connect(test.gate, "a.test:1"));
  const answer = await readUntil(connection, "\r\n\r\n");
  if (statusOf(answer) !== 200) throw new Error(answer);
  return connection;
}

/** An origin that sends back what it gets, and its end too. */
const echo = async (connection: Deno.Conn, head: string) => {
  await write(connection, head);
  const buffer = new Uint8Array(65_536);
  for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
    for (let at = 0; at < count;) at += await connection.write(buffer.subarray(at, count));
  }
};

Deno.test("runTunnel: reads no more than it could pass on", async () => {
  let [reads, release] = [0, () => {}];
  const hungry: Wire = {
    read: (into) => Promise.resolve(++reads > 3 ? null : into.length),
    write: (bytes) => new Promise((settle) => release = () => settle(bytes.length)),
    closeWrite: () => Promise.resolve(),
    close() {},
    remoteAddr: { transport: "tcp", hostname: PUBLIC, port: 1 },
  };
  const silent: Wire = { ...hungry, read: () => Promise.resolve(null) };
  const exchange = new Exchange({ rest: Infinity }, hungry);
  const done = runTunnel(exchange, hungry, new WireReader(silent), { wire: silent, reader: new WireReader(hungry) });
  for (const wanted of [1, 2, 3]) {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    assertEquals(reads, wanted);
    release();
  }
  await done;
  assertEquals([reads, exchange.isOver, exchange.bytesDown], [4, true, 8192 + 65_536 * 2]);
});

Deno.test("openGate: each end of a tunnel closes on its own, and all bytes arrive and are counted", async () => {
  await using origin = openOrigin(echo);
  await using test = openTo(origin);
  const connection = await openTunnel(test);
  const text = "\r\n\r\n" + "0123456789abcdef".repeat(64 * 1024);
  const [, answer] = await Promise.all([
    write(connection, text).then(() => connection.closeWrite()),
    readAll(connection),
  ]);
  close(connection);
  await test.gate.close();
  assert(answer === text);
  assertEquals(test.connections.map(({ error, bytes_up, bytes_down }) => [error, bytes_up, bytes_down]), [
    [undefined, text.length, text.length],
  ]);
});

Deno.test("openGate: a client that goes away ends the connection to the origin, in a tunnel and in a request", async () => {
  const gone = Promise.withResolvers<void>();
  let left = 2;
  await using origin = openOrigin(async (connection) => {
    await write(connection, "HTTP/1.1 200 OK\r\n\r\nsome");
    await readAll(connection);
    if (--left === 0) gone.resolve();
  });
  await using test = openTo(origin);
  const tunnel = await openTunnel(test);
  await write(tunnel, "\r\n\r\n");
  await readUntil(tunnel, "some");
  tunnel.close();
  const request = await Deno.connect({ port: test.gate.port });
  await write(request, get(test.gate, "http://a.test/"));
  await readUntil(request, "some");
  request.close();
  await gone.promise;
});

Deno.test("openGate: one connection too many is answered 503 at once, and a place that is free again is given", async () => {
  await using origin = openOrigin(HELLO);
  await using test = openTo(origin, { connections: 3 });
  const { gate } = test;
  const held = await Promise.all([openTunnel(test), openTunnel(test), openTunnel(test)]);
  const answer = await talk(gate, get(gate, "http://a.test/"));
  assertEquals([statusOf(answer), fieldOf(answer, "x-boll-error")], [503, "connection-limit-reached"]);
  assertEquals([gate.counts.overLimit, origin.count], [1, 3]);
  await write(held[0]!, "\r\n\r\n");
  await readAll(held[0]!);
  held.forEach(close);
  for (let status = 503; status !== 200;) status = statusOf(await talk(gate, get(gate, "http://a.test/")));
});

Deno.test("openGate: a flood of 1000 silent connections, then everything works again", async () => {
  await using origin = openOrigin(HELLO);
  await using test = openTo(origin);
  const { gate } = test;
  const flood = await Promise.all(Array.from({ length: 1000 }, async () => {
    const connection = await Deno.connect({ port: gate.port });
    await write(connection, "GET http://a.test/ HT").catch(() => {});
    return connection;
  }));
  // Those over the limit have an answer or an end; those within it wait for the rest of their head.
  for (let over = 0; over < 1000 - 128; over = gate.counts.overLimit) {
    await new Promise((settle) => setTimeout(settle, 1));
  }
  assertEquals([gate.counts.overLimit, gate.counts.malformed, origin.count], [872, 0, 0]);
  flood.forEach(close);
  for (let status = 503; status !== 200;) status = statusOf(await talk(gate, get(gate, "http://a.test/")));
  assertEquals(origin.count, 1);
});

Deno.test("openGate: half a head and then silence, or a head in drops, ends at the time for a head", async () => {
  await using origin = openOrigin(HELLO);
  await using test = openTo(origin, { headTimeoutMs: 40 });
  const { gate } = test;
  const half = await Deno.connect({ port: gate.port });
  await write(half, get(gate, "http://a.test/").slice(0, -2));
  assertEquals(await readAll(half), "");
  close(half);
  const drops = await Deno.connect({ port: gate.port });
  const ended = readAll(drops);
  let isOpen = true;
  ended.then(() => isOpen = false);
  for (let at = 0; isOpen; at++) {
    await write(drops, at === 0 ? "GET " : "a").catch(() => isOpen = false);
    await new Promise((settle) => setTimeout(settle, 5));
  }
  assertEquals(await ended, "");
  close(drops);
  assertEquals(statusOf(await talk(gate, get(gate, "http://a.test/"))), 200);
  assertEquals(origin.count, 1);
});

Deno.test("openGate: without a byte either way a connection ends at the idle time, also where a reader has stopped reading", async () => {
  const chunk = "x".repeat(65_536);
  let [isFull, sent] = [false, 0];
  await using origin = openOrigin(async (connection, head) => {
    if (head.startsWith("silent")) return void (await readAll(connection));
    while (!isFull) await write(connection, chunk).then(() => sent += chunk.length);
  });
  await using test = openTo(origin, { idleTimeoutMs: 80 });
  const silent = await openTunnel(test);
  await write(silent, "silent\r\n\r\n");
  assertEquals(await readAll(silent), "");
  close(silent);
  // Never reads: the buffers between fill, then nothing moves.
  const slow = await openTunnel(test);
  await write(slow, "\r\n\r\n");
  while (test.connections.length < 2) await new Promise((settle) => setTimeout(settle, 5));
  isFull = true;
  close(slow);
  assertEquals(test.connections.map(({ error }) => error), ["connection-timeout", "connection-timeout"]);
  assert(sent < 64 * 1024 * 1024, `${sent} bytes went into buffers`);
});

Deno.test("openGate: the limit of bytes counts both ways over all connections; what fits passes", async () => {
  await using origin = openOrigin(echo);
  await using test = openTo(origin, { bytes: 100 });
  const { gate } = test;
  const ask = async (size: number) => {
    const connection = await openTunnel(test);
    const answer = readAll(connection);
    await write(connection, "a".repeat(size - 4) + "\r\n\r\n").then(() => connection.closeWrite()).catch(() => {});
    const { length } = await answer;
    close(connection);
    return length;
  };
  assertEquals([await ask(30), await ask(20), await ask(4)], [30, 20, 0]);
  await gate.close();
  assertEquals(test.connections.map(({ error }) => error), [undefined, undefined, "bytes-limit"]);
});

Deno.test("openGate: an answer before the request has ended arrives whole, and the upload is not held", async () => {
  await using origin = openOrigin("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!");
  await using test = openTo(origin);
  const post = withCredential(test.gate, "POST http://a.test/ HTTP/1.1", "Host: a.test", "Content-Length: 8000000");
  const connection = await Deno.connect({ port: test.gate.port });
  const answer = readAll(connection);
  await write(connection, post + "x".repeat(1_000_000)).catch(() => {});
  assertEquals([statusOf(await answer), (await answer).endsWith("no!")], [413, true]);
  close(connection);
});

Deno.test("openGate: hundreds of requests at once, each with its own answer", async () => {
  await using origin = openOrigin(async (connection, head) => {
    const path = head.split(" ")[1]!;
    await write(connection, `HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`);
  });
  await using test = openTo(origin);
  const { gate } = test;
  for (let round = 0; round < 3; round++) {
    const paths = Array.from({ length: 100 }, (_, index) => `/${round}/${index}`);
    const answers = await Promise.all(paths.map((path) => talk(gate, get(gate, `http://a.test${path}`))));
    assertEquals(answers.map((answer) => answer.split("\r\n\r\n")[1]), paths);
  }
});
