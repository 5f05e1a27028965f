import { assertEquals } from "@std/assert";
import {
  connect,
  connectTo,
  fieldOf,
  get,
  HELLO,
  openOrigin,
  openTestGate,
  PUBLIC,
  statusOf,
  talk,
} from "./gate_fixture.ts";
import { openNameServer, resolveAt } from "./name_server_fixture.ts";

Deno.test("openGate: a name that resolves to a place inside is refused, by https, http and tcp; to one outside it is not", async () => {
  await using origin = openOrigin(HELLO);
  const inside = [
    ...[
      "127.0.0.1",
      "::1",
      "::ffff:127.0.0.1",
      "169.254.169.254",
      "10.1.2.3",
      "192.168.1.1",
      "172.16.0.1",
      "100.64.0.1",
    ],
    ...[
      "0.0.0.0",
      "::",
      "::127.0.0.1",
      "64:ff9b::127.0.0.1",
      "2002:7f00:1::1",
      "fd00:ec2::254",
      "fe80::1",
      "224.0.0.1",
    ],
    ...["255.255.255.255", "100.100.100.200", "168.63.129.16", "2001:0:7f00:1::", "fec0::1", "240.0.0.1"],
  ];
  for (const address of inside) {
    const dial = connectTo(origin);
    await using test = openTestGate({
      entries: ["http://a.test", "https://a.test", "tcp://a.test:1"],
      names: { "a.test": [address] },
      connect: dial,
    });
    const { gate } = test;
    for (const text of [get(gate, "http://a.test/"), connect(gate, "a.test:443"), connect(gate, "a.test:1")]) {
      const answer = await talk(gate, text);
      assertEquals([statusOf(answer), fieldOf(answer, "x-boll-error")], [403, "destination-ip-prohibited"], address);
    }
    await gate.close();
    assertEquals([dial.asked, test.denials.length], [[], 3], address);
    assertEquals(test.connections.map(({ outcome }) => outcome), ["refused", "refused", "refused"]);
  }
  await using test = openTestGate({
    entries: ["http://a.test"],
    names: { "a.test": [PUBLIC] },
    connect: connectTo(origin),
  });
  assertEquals(statusOf(await talk(test.gate, get(test.gate, "http://a.test/"))), 200);
});

Deno.test("openGate: of a name that resolves to both, only the places outside are tried", async () => {
  const dial = Object.assign(
    (address: string) => (dial.asked.push(address), Promise.reject(new Deno.errors.ConnectionRefused())),
    { asked: [] as string[] },
  );
  await using test = openTestGate({
    entries: ["http://a.test"],
    names: { "a.test": ["127.0.0.1", PUBLIC, "::1", "10.0.0.1", "2606:4700::1"] },
    connect: dial,
  });
  const answer = await talk(test.gate, get(test.gate, "http://a.test/"));
  assertEquals(fieldOf(answer, "x-boll-error"), "connection-refused");
  assertEquals(dial.asked, [PUBLIC, "2606:4700::1"]);
});

Deno.test("openGate: an address or localhost that an entry names literally is reached, at that port and scheme alone", async () => {
  await using origin = openOrigin(HELLO);
  const { port } = origin;
  await using test = openTestGate({
    entries: [
      `http://127.0.0.1:${port}`,
      `tcp://localhost:${port}`,
      `http://inside.test:${port}`,
      `http://[::1]:${port}`,
    ],
    names: { "inside.test": ["127.0.0.1"], "localhost": ["10.0.0.1"] },
  });
  const { gate } = test;
  const status = async (text: string) => statusOf(await talk(gate, text));
  assertEquals(await status(get(gate, `http://127.0.0.1:${port}/`)), 200);
  assertEquals(await status(get(gate, `http://127.0.0.1:${port + 1}/`)), 403);
  assertEquals(await status(get(gate, `http://127.0.0.2:${port}/`)), 403);
  assertEquals(await status(get(gate, `http://localhost:${port}/`)), 403);
  assertEquals(await status(connect(gate, `127.0.0.1:${port}`)), 403);
  // A granted name may go where an entry of the same scheme and port goes anyhow.
  assertEquals(await status(get(gate, `http://inside.test:${port}/`)), 200);
  const tunnel = await talk(gate, connect(gate, `localhost:${port}`) + "GET / HTTP/1.1\r\n\r\n");
  assertEquals(tunnel.endsWith("hello"), true);
  await gate.close();
  assertEquals(test.connections.map(({ address }) => address), ["127.0.0.1", "127.0.0.1", "127.0.0.1"]);
});

Deno.test("openGate: a name whose answers change is resolved once per connection, and each answer is checked", async () => {
  await using origin = openOrigin(HELLO);
  await using server = await openNameServer({
    "rebind.test": { A: [[PUBLIC], ["127.0.0.1"], [PUBLIC], ["169.254.169.254"], ["10.0.0.1", PUBLIC]] },
    "six.test": { AAAA: [["0:0:0:0:0:0:0:1"], ["0:0:0:0:0:ffff:7f00:1"], ["2606:4700:0:0:0:0:0:1"]] },
  });
  const dial = connectTo(origin);
  await using test = openTestGate({
    entries: ["http://rebind.test", "http://six.test", "http://unknown.test"],
    resolve: resolveAt(server),
    connect: dial,
  });
  const statuses = [];
  const names = ["rebind", "rebind", "rebind", "rebind", "rebind", "six", "six", "six", "unknown"];
  for (const name of names) statuses.push(statusOf(await talk(test.gate, get(test.gate, `http://${name}.test/`))));
  assertEquals(statuses, [200, 403, 200, 403, 200, 403, 403, 200, 502]);
  assertEquals(dial.asked, [...new Array(3).fill(`${PUBLIC} 80`), "2606:4700::1 80"]);
  assertEquals(server.questions.filter((question) => question === "rebind.test A").length, 5);
});

Deno.test("openGate: no look-up is made for what is not granted, so that a name carries nothing out", async () => {
  const asked: string[] = [];
  await using test = openTestGate({
    entries: ["https://a.test", "http://a.test"],
    resolve: (name) => (asked.push(name), Promise.reject(new Error("none"))),
  });
  const { gate } = test;
  for (const name of ["secret.evil.test", "secret.a.test", "a.test.evil.test"]) {
    assertEquals(statusOf(await talk(gate, connect(gate, `${name}:443`))), 403);
    assertEquals(statusOf(await talk(gate, get(gate, `http://${name}/`))), 403);
    assertEquals(await gate.resolveName(name), { ok: false, error: "denied" });
  }
  assertEquals(asked, []);
  assertEquals(statusOf(await talk(gate, connect(gate, "a.test:443"))), 502);
  assertEquals(asked, ["a.test"]);
});
