import { assertEquals } from "@std/assert";
import type { OpenWire } from "../net/gate_way.ts";
import { openNetFixture, refusal } from "../net/net_fixture.ts";
import { WireReader } from "../net/wire.ts";
import { ask, serve, TLS } from "./http_fixture.ts";
import { IdleWires } from "./idle_wires.ts";

function fakeWire(closed: string[], name: string): OpenWire {
  const wire = {
    read: () => Promise.resolve(null),
    write: () => Promise.resolve(0),
    closeWrite: () => Promise.resolve(),
    close: () => void closed.push(name),
  };
  return { wire, reader: new WireReader(wire) };
}

Deno.test("idle wires: one for exactly this place, once; beyond eight the oldest is closed", () => {
  const closed: string[] = [];
  const idle = new IdleWires();
  for (let port = 1; port <= 9; port++) idle.put({ host: "a", port }, fakeWire(closed, `${port}`));
  assertEquals(closed, ["1"]);
  const place = { host: "a", port: 5 };
  assertEquals([idle.take({ host: "b", port: 5 }), idle.take(place) !== undefined, idle.take(place)], [
    undefined,
    true,
    undefined,
  ]);
  idle.close();
  assertEquals(closed.length, 8);
});

Deno.test("handle: requests over TLS share a connection one after another, and one that was closed meanwhile is made anew", async () => {
  let count = 0;
  const server = serve(() => new Response("x"), TLS);
  const entries = [`https://localhost:${server.port}`];
  const url = `https://localhost:${server.port}/`;
  const net = openNetFixture({ entries, caCerts: [TLS.ca], onConnection: () => count++ });
  for (let turn = 0; turn < 3; turn++) assertEquals((await ask(net, url)).text, "x");
  assertEquals((await ask(net, url, { method: "post", body: "b" })).text, "x");
  await server[Symbol.asyncDispose]();
  // The kept connection ends at once, and there is nobody to make another to.
  assertEquals(await refusal(() => ask(net, url)), { tag: "connection-refused" });
  await net[Symbol.asyncDispose]();
  assertEquals([server.asked.length, count], [4, 3]);
});

Deno.test("handle: what the server wants closed is not used again", async () => {
  let count = 0;
  await using server = serve(() => new Response("x", { headers: { connection: "close" } }), TLS);
  const net = openNetFixture({
    entries: [`https://localhost:${server.port}`],
    caCerts: [TLS.ca],
    onConnection: () => count++,
  });
  for (let turn = 0; turn < 2; turn++) await ask(net, `https://localhost:${server.port}/`);
  await net[Symbol.asyncDispose]();
  assertEquals([server.asked.length, count], [2, 2]);
});
