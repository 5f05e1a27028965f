import { assertEquals, assertThrows } from "@std/assert";
import { openOrigin, PUBLIC, readAll as readConnection, write } from "../../egress/gate_fixture.ts";
import { thrown } from "../host_fixture.ts";
import type { IoError } from "../io_error.ts";
import { openNetFixture, refusal } from "../net/net_fixture.ts";
import { utf8 } from "../net/stream_fixture.ts";
import type { Network } from "./network.ts";
import { at, connect, finish, lookUp, network, readAll, tcp } from "./socket_fixture.ts";

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

Deno.test("tcp: connects through the gate; what a server says first is read, each direction ends on its own", async () => {
  await using origin = openOrigin(async (connection, head) => {
    await write(connection, `heard ${head.trim()}`);
  });
  await using net = openNetFixture({ entries: [`tcp://127.0.0.1:${origin.port}`] });
  const { socket, input, output } = await connect(net, at("127.0.0.1", origin.port));
  assertEquals(socket.remoteAddress(), at("127.0.0.1", origin.port));
  await output.blockingWriteAndFlush(utf8("hello\r\n\r\n"));
  assertEquals(await readAll(input), "heard hello");
  socket.shutdown("send");
  assertEquals(thrown(() => output.checkWrite()), { tag: "closed" });
  socket.shutdown("both");
  socket.shutdown("both");
  socket[Symbol.dispose]();
});

Deno.test("tcp: only the entry's address and port; a refusal is told with its entry", async () => {
  await using origin = openOrigin("x");
  await using net = openNetFixture({
    entries: [`tcp://127.0.0.1:${origin.port}`, "https://127.0.0.2", "tcp://a.example:5"],
  });
  assertEquals((await connect(net, at("127.0.0.1", origin.port))).socket.isListening(), false);
  for (const place of [at("127.0.0.1", 9), at("127.0.0.2", 443), at(PUBLIC, 5)]) {
    assertEquals(thrown(() => tcp(net).startConnect(network(net), place)), "access-denied");
  }
  assertEquals(net.denials.map(({ asked }) => asked), [
    "tcp://127.0.0.1:9",
    "tcp://127.0.0.2:443",
    `tcp://${PUBLIC}:5`,
  ]);
  assertEquals(net.denials[0]!.allow, '--net tcp://127.0.0.1:9 or "net": ["tcp://127.0.0.1:9"] in grants');
  assertEquals(net.gateDenials, []);
});

Deno.test("tcp: an address that a granted name was looked up to may be connected to, before that not", async () => {
  await using origin = openOrigin("x");
  await using net = openNetFixture({ entries: [`tcp://localhost:${origin.port}`] });
  const place = at("127.0.0.1", origin.port);
  assertEquals(thrown(() => tcp(net).startConnect(network(net), place)), "access-denied");
  const found = lookUp(net, "LocalHost");
  assertEquals(await finish(found, () => found.resolveNextAddress()), { tag: "ipv4", val: [127, 0, 0, 1] });
  assertEquals(found.resolveNextAddress(), { tag: "ipv6", val: [0, 0, 0, 0, 0, 0, 0, 1] });
  assertEquals(found.resolveNextAddress(), undefined);
  const { output, input } = await connect(net, place);
  await output.blockingWriteAndFlush(utf8("\r\n\r\n"));
  assertEquals(await readAll(input), "x");
});

Deno.test("tcp: what a connection that is not made ends with, and that its socket is closed then", async () => {
  await using net = openNetFixture({
    entries: ["tcp://127.0.0.1:1", "tcp://10.0.0.1:1"],
    limits: { connectTimeoutMs: 20 },
  });
  const socket = tcp(net);
  socket.startConnect(network(net), at("127.0.0.1", 1));
  assertEquals(thrown(() => socket.finishConnect()), "would-block");
  assertEquals(await refusal(() => finish(socket, () => socket.finishConnect())), "connection-refused");
  assertEquals(thrown(() => socket.startConnect(network(net), at("127.0.0.1", 1))), "invalid-state");
  assertEquals(thrown(() => socket.finishConnect()), "not-in-progress");
});

Deno.test("tcp: every call out of its state says so and changes nothing", async () => {
  await using origin = openOrigin("x");
  const port = freePort();
  await using net = openNetFixture({ entries: [`tcp://127.0.0.1:${origin.port}`, `listen:${port}`] });
  const [via, here] = [network(net), at("127.0.0.1", origin.port)];
  const socket = tcp(net);
  for (const act of ["finishBind", "finishListen", "finishConnect"] as const) {
    assertEquals(thrown(() => socket[act]()), "not-in-progress", act);
  }
  for (const act of ["startListen", "accept", "localAddress", "remoteAddress"] as const) {
    assertEquals(thrown(() => socket[act]()), "invalid-state", act);
  }
  assertEquals(thrown(() => socket.shutdown("both")), "invalid-state");
  socket.startConnect(via, here);
  assertEquals(thrown(() => socket.startConnect(via, here)), "concurrency-conflict");
  assertEquals(thrown(() => socket.startBind(via, at("0.0.0.0", 0))), "invalid-state");
  await finish(socket, () => socket.finishConnect());
  for (const act of [() => socket.startConnect(via, here), () => socket.startListen(), () => socket.accept()]) {
    assertEquals(thrown(act), "invalid-state");
  }
  const listener = tcp(net);
  listener.startBind(via, at("0.0.0.0", port));
  assertEquals(thrown(() => listener.startBind(via, at("0.0.0.0", port))), "concurrency-conflict");
  listener.finishBind();
  assertEquals(thrown(() => listener.startBind(via, at("0.0.0.0", port))), "invalid-state");
  listener.startListen();
  assertEquals(thrown(() => listener.startListen()), "concurrency-conflict");
  listener.finishListen();
  assertEquals([listener.isListening(), thrown(() => listener.startConnect(via, here))], [true, "invalid-state"]);
  assertEquals(thrown(() => listener.setListenBacklogSize(5n)), "not-supported");
  listener[Symbol.dispose]();
});

Deno.test("tcp: addresses that are none to connect or bind to", async () => {
  await using net = openNetFixture({ entries: ["tcp://127.0.0.1:9"] });
  const via = network(net);
  for (const place of [at("0.0.0.0", 9), at("224.0.0.1", 9), at("255.255.255.255", 9), at("127.0.0.1", 0)]) {
    assertEquals(thrown(() => tcp(net).startConnect(via, place)), "invalid-argument");
  }
  const mapped = {
    tag: "ipv6",
    val: { port: 9, flowInfo: 0, address: [0, 0, 0, 0, 0, 65_535, 32_512, 1], scopeId: 0 },
  } as const;
  assertEquals(thrown(() => tcp(net, "ipv6").startConnect(via, mapped)), "invalid-argument");
  assertEquals(thrown(() => tcp(net, "ipv6").startConnect(via, at("127.0.0.1", 9))), "invalid-argument");
  assertEquals(thrown(() => tcp(net).startBind(via, at("192.0.2.1", 0))), "address-not-bindable");
  assertThrows(() => tcp(net).startBind({} as Network, at("0.0.0.0", 0)), TypeError);
  assertEquals(net.denials, []);
});

Deno.test("tcp: listens on the port of an entry and on loopback alone; another port is refused and told", async () => {
  const port = freePort();
  await using net = openNetFixture({ entries: [`listen:${port}`] });
  const via = network(net);
  assertEquals(thrown(() => tcp(net).startBind(via, at("0.0.0.0", 9))), "access-denied");
  assertEquals(net.denials.map(({ asked }) => asked), ["listen:9"]);
  const unnamed = tcp(net);
  unnamed.startBind(via, at("0.0.0.0", 0));
  unnamed.finishBind();
  assertEquals(thrown(() => unnamed.startListen()), "access-denied");
  const listener = tcp(net);
  listener.startBind(via, at("0.0.0.0", port));
  listener.finishBind();
  listener.setKeepAliveCount(3);
  listener.startListen();
  listener.finishListen();
  assertEquals(listener.localAddress(), at("127.0.0.1", port));
  assertEquals(thrown(() => listener.accept()), "would-block");
  const client = await Deno.connect({ hostname: "127.0.0.1", port });
  const [socket, input, output] = await finish(listener, () => listener.accept());
  assertEquals([socket.keepAliveCount(), socket.localAddress()], [3, at("127.0.0.1", port)]);
  await write(client, "ping");
  await client.closeWrite();
  assertEquals(await readAll(input), "ping");
  output.write(utf8("pong"));
  socket[Symbol.dispose]();
  assertEquals(await readConnection(client), "pong");
  client.close();
  const second = tcp(net);
  second.startBind(via, at("127.0.0.1", port));
  second.finishBind();
  second.startListen();
  assertEquals(thrown(() => second.finishListen()), "address-in-use");
  listener[Symbol.dispose]();
});

Deno.test("tcp: what was written goes out when the socket, or the whole guest, is gone", async () => {
  const texts: string[] = [];
  const all = Promise.withResolvers<void>();
  await using origin = openOrigin(async (connection, head) => {
    texts.push(head + await readConnection(connection));
    if (texts.length === 2) all.resolve();
  });
  await using net = openNetFixture({ entries: [`tcp://127.0.0.1:${origin.port}`] });
  const dropped = await connect(net, at("127.0.0.1", origin.port));
  dropped.output.write(utf8("\r\n\r\nfirst"));
  dropped.socket[Symbol.dispose]();
  const left = await connect(net, at("127.0.0.1", origin.port));
  left.output.write(utf8("\r\n\r\nlast"));
  await net.wasi.settle();
  await all.promise;
  assertEquals(texts.sort(), ["\r\n\r\nfirst", "\r\n\r\nlast"]);
});

Deno.test("tcp: a guest that is gone leaves no connection, attempt or listener, whatever is queued", async () => {
  const closed = Promise.withResolvers<void>();
  await using origin = openOrigin(async (connection) => {
    await refusal(async () => {
      while (await connection.read(new Uint8Array(4096)) !== null);
      throw new Error("at its end");
    });
    closed.resolve();
  });
  const port = freePort();
  await using net = openNetFixture({ entries: [`tcp://127.0.0.1:${origin.port}`, `listen:${port}`] });
  const { output } = await connect(net, at("127.0.0.1", origin.port));
  output.write(utf8("\r\n\r\n"));
  const listener = tcp(net);
  listener.startBind(network(net), at("127.0.0.1", port));
  listener.finishBind();
  listener.startListen();
  listener.finishListen();
  tcp(net).startConnect(network(net), at("127.0.0.1", origin.port));
  net.wasi.cut();
  await closed.promise;
  assertEquals(((thrown(() => output.checkWrite())) as { tag: string }).tag, "last-operation-failed");
  Deno.listen({ hostname: "127.0.0.1", port }).close();
  assertEquals(thrown(() => tcp(net).startConnect(network(net), at("127.0.0.1", origin.port))), "invalid-state");
});

Deno.test("tcp: a peer that resets is a failure that says so, once", async () => {
  await using origin = openOrigin((connection) => connection.close());
  await using net = openNetFixture({ entries: [`tcp://127.0.0.1:${origin.port}`] });
  const { output } = await connect(net, at("127.0.0.1", origin.port));
  await output.blockingWriteAndFlush(utf8("\r\n\r\n"));
  const error = await refusal(async () => {
    for (;;) await output.blockingWriteAndFlush(new Uint8Array(4096));
  }) as { tag: string; val: IoError };
  assertEquals([error.tag, error.val.networkCode], ["last-operation-failed", "connection-reset"]);
  assertEquals(thrown(() => output.checkWrite()), { tag: "closed" });
});

Deno.test("tcp: options are kept, 0 is refused, and so many sockets are too many", async () => {
  await using net = openNetFixture({ entries: ["tcp://127.0.0.1:9"] });
  const socket = tcp(net);
  socket.setKeepAliveEnabled(true);
  socket.setHopLimit(7);
  socket.setSendBufferSize(1n);
  assertEquals([socket.keepAliveEnabled(), socket.hopLimit(), socket.sendBufferSize()], [true, 7, 1n]);
  for (const act of [() => socket.setHopLimit(0), () => socket.setKeepAliveIdleTime(0n)]) {
    assertEquals(thrown(act), "invalid-argument");
  }
  const more = Array.from({ length: 127 }, () => tcp(net));
  assertEquals(thrown(() => tcp(net)), "new-socket-limit");
  more[0]![Symbol.dispose]();
  tcp(net);
  assertEquals(thrown(() => tcp(net, "ipx")), "not-supported");
});
