import { assertEquals, assertThrows } from "@std/assert";
import { createSocket } from "node:dgram";
import { thrown } from "../host_fixture.ts";
import { type NetFixture, openNetFixture } from "../net/net_fixture.ts";
import { utf8 } from "../net/stream_fixture.ts";
import { at, network, udp } from "./socket_fixture.ts";

/** A peer on loopback that sends every datagram back, from the port it came to. */
async function openEcho(): Promise<{ port: number; seen: string[] } & AsyncDisposable> {
  const socket = createSocket("udp4");
  const seen: string[] = [];
  socket.on("message", (data, { port, address }) => {
    seen.push(new TextDecoder().decode(data));
    socket.send(data, port, address);
  });
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done));
  return {
    port: socket.address().port,
    seen,
    [Symbol.asyncDispose]: () => new Promise<void>((done) => void socket.close(done)),
  };
}

async function bind(net: NetFixture) {
  const socket = udp(net);
  socket.startBind(network(net), at("0.0.0.0", 0));
  await socket.finishBind();
  return socket;
}

Deno.test("udp: each datagram goes to an entry's peer, or is refused and told; what comes back is read", async () => {
  await using echo = await openEcho();
  await using other = await openEcho();
  await using net = openNetFixture({ entries: [`udp://127.0.0.1:${echo.port}`] });
  const socket = await bind(net);
  const [incoming, outgoing] = socket.stream(undefined);
  assertEquals([outgoing.checkSend() > 0n, incoming.receive(9n)], [true, []]);
  const [granted, ungranted] = [at("127.0.0.1", echo.port), at("127.0.0.1", other.port)];
  assertEquals(
    outgoing.send([{ data: utf8("one"), remoteAddress: granted }, { data: utf8("x"), remoteAddress: ungranted }]),
    1n,
  );
  assertEquals(thrown(() => outgoing.send([{ data: utf8("x"), remoteAddress: ungranted }])), "access-denied");
  await incoming.subscribe().block();
  assertEquals(incoming.receive(9n), [{ data: utf8("one"), remoteAddress: granted }]);
  assertEquals([echo.seen, other.seen], [["one"], []]);
  assertEquals(net.denials.map(({ asked }) => asked), [`udp://127.0.0.1:${other.port}`]);
  socket[Symbol.dispose]();
});

Deno.test("udp: a stream with a peer sends there alone", async () => {
  await using echo = await openEcho();
  await using net = openNetFixture({ entries: [`udp://127.0.0.1:${echo.port}`, "udp://127.0.0.1:9"] });
  const socket = await bind(net);
  assertEquals(thrown(() => socket.remoteAddress()), "invalid-state");
  assertEquals(thrown(() => socket.stream(at("127.0.0.2", 9))), "access-denied");
  const [incoming, outgoing] = socket.stream(at("127.0.0.1", echo.port));
  assertEquals(socket.remoteAddress(), at("127.0.0.1", echo.port));
  outgoing.checkSend();
  assertEquals(
    thrown(() => outgoing.send([{ data: utf8("x"), remoteAddress: at("127.0.0.1", 9) }])),
    "invalid-argument",
  );
  const large = new Uint8Array(65_508);
  assertEquals(thrown(() => outgoing.send([{ data: large }])), "datagram-too-large");
  assertEquals(outgoing.send([{ data: utf8("hi") }]), 1n);
  await incoming.subscribe().block();
  assertEquals(incoming.receive(1n).map(({ data }) => data), [utf8("hi")]);
  assertThrows(() => outgoing.send(new Array(17).fill({ data: utf8("x") })), Error, "more than check-send");
  socket[Symbol.dispose]();
});

Deno.test("udp: states and addresses that are none", async () => {
  await using net = openNetFixture({ entries: ["udp://127.0.0.1:9"] });
  const socket = udp(net);
  assertEquals(await socket.finishBind().catch((error) => error), "not-in-progress");
  assertEquals(thrown(() => socket.stream(undefined)), "invalid-state");
  assertEquals(thrown(() => socket.localAddress()), "invalid-state");
  assertEquals(thrown(() => socket.startBind(network(net), at("0.0.0.0", 5353))), "access-denied");
  assertEquals(thrown(() => socket.startBind(network(net), at("192.0.2.1", 0))), "address-not-bindable");
  socket.startBind(network(net), at("0.0.0.0", 0));
  assertEquals(thrown(() => socket.startBind(network(net), at("0.0.0.0", 0))), "concurrency-conflict");
  // The first call ends the bind: a libc takes a would-block here for a failure, and is then in a conflict with itself.
  assertEquals(await socket.finishBind(), undefined);
  assertEquals([socket.localAddress().tag, socket.addressFamily()], ["ipv4", "ipv4"]);
  for (const place of [at("0.0.0.0", 9), at("127.0.0.1", 0), at("224.0.0.1", 9)]) {
    assertEquals(thrown(() => socket.stream(place)), "invalid-argument");
  }
  socket.setUnicastHopLimit(3);
  assertEquals([socket.unicastHopLimit(), thrown(() => socket.setUnicastHopLimit(0))], [3, "invalid-argument"]);
  socket[Symbol.dispose]();
});
