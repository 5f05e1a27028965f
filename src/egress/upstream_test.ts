import { assertEquals } from "@std/assert";
import {
  connect,
  fieldOf,
  get,
  HELLO,
  openOrigin,
  openTestGate,
  type Origin,
  readAll,
  statusOf,
  talk,
  write,
} from "./gate_fixture.ts";
import type { Upstream } from "./mod.ts";

/** A proxy that says yes to what it is asked, and then answers as an origin. */
function openProxy(reply = "HTTP/1.1 200 OK\r\nX: y\r\n\r\n"): Origin {
  return openOrigin(async (connection) => await write(connection, reply + HELLO));
}

function openThrough(proxy: Origin, names: Record<string, string[]>, credential?: string) {
  const upstream: Upstream = { host: "127.0.0.1", port: proxy.port, ...(credential !== undefined && { credential }) };
  return openTestGate({
    entries: ["http://a.test", "https://b.test", "http://c.test", "tcp://localhost:9"],
    names,
    upstream,
  });
}

Deno.test("openGate: with an upstream proxy everything granted is asked of it by name, with its credential alone", async () => {
  await using proxy = openProxy();
  await using test = openThrough(proxy, { "a.test": ["93.184.216.34"] }, "user:pässword");
  const { gate } = test;
  const answer = await talk(gate, get(gate, "http://a.test/x"));
  assertEquals([statusOf(answer), answer.endsWith("hello")], [200, true]);
  // b.test resolves nowhere here: the proxy may know it.
  assertEquals((await talk(gate, connect(gate, "b.test:443"))).endsWith("hello"), true);
  assertEquals(statusOf(await talk(gate, connect(gate, "evil.test:443"))), 403);
  const basic = btoa(String.fromCharCode(...new TextEncoder().encode("user:pässword")));
  assertEquals(proxy.received.split("\r\n\r\n").filter((head) => head.startsWith("CONNECT")), [
    `CONNECT a.test:80 HTTP/1.1\r\nhost: a.test:80\r\nproxy-authorization: Basic ${basic}`,
    `CONNECT b.test:443 HTTP/1.1\r\nhost: b.test:443\r\nproxy-authorization: Basic ${basic}`,
  ]);
  await gate.close();
  assertEquals(test.connections.map(({ host, address, outcome }) => [host, address, outcome]), [
    ["a.test", undefined, "opened"],
    ["b.test", undefined, "opened"],
  ]);
});

Deno.test("openGate: a name that resolves here to a place inside is not asked of the proxy, nor is loopback", async () => {
  await using proxy = openProxy();
  await using test = openThrough(proxy, { "a.test": ["93.184.216.34", "10.0.0.1"], "c.test": ["93.184.216.34"] });
  const { gate } = test;
  const refused = await talk(gate, get(gate, "http://a.test/"));
  assertEquals([statusOf(refused), fieldOf(refused, "x-boll-error")], [403, "destination-ip-prohibited"]);
  const loopback = await talk(gate, connect(gate, "localhost:9"));
  assertEquals(fieldOf(loopback, "x-boll-error"), "connection-refused");
  assertEquals(proxy.count, 0);
  assertEquals(statusOf(await talk(gate, get(gate, "http://c.test/"))), 200);
});

Deno.test("openGate: a proxy that refuses, is none, or is not there is named as what failed", async () => {
  for (
    const reply of [
      "HTTP/1.1 407 No\r\n\r\n",
      "HTTP/1.1 503 No\r\n\r\n",
      "hello\r\n\r\n",
      "HTTP/1.1 2\r\n\r\n",
      "a\nb",
      "",
    ]
  ) {
    await using proxy = openOrigin(reply);
    await using test = openThrough(proxy, {});
    const answer = await talk(test.gate, get(test.gate, "http://a.test/"));
    assertEquals([statusOf(answer), fieldOf(answer, "x-boll-error")], [502, "upstream-failed"], reply);
  }
  const proxy = openProxy();
  await proxy[Symbol.asyncDispose]();
  await using test = openThrough(proxy, {});
  assertEquals(fieldOf(await talk(test.gate, get(test.gate, "http://a.test/")), "x-boll-error"), "upstream-failed");
});

Deno.test("openGate: a proxy that says nothing, or has a name of its own, is given the time of a connection", async () => {
  await using proxy = openOrigin(async (connection) => void (await readAll(connection)));
  await using silent = openTestGate({
    entries: ["https://b.test"],
    upstream: { host: "127.0.0.1", port: proxy.port },
    limits: { connectTimeoutMs: 60 },
  });
  const answer = await talk(silent.gate, connect(silent.gate, "b.test:443"));
  assertEquals([statusOf(answer), fieldOf(answer, "x-boll-error")], [504, "connection-timeout"]);
  await using speaking = openProxy();
  await using named = openTestGate({
    entries: ["https://b.test"],
    names: { "proxy.test": ["127.0.0.1"] },
    upstream: { host: "proxy.test", port: speaking.port },
  });
  assertEquals((await talk(named.gate, connect(named.gate, "b.test:443"))).endsWith("hello"), true);
});
