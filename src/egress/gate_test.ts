import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  close,
  connect,
  connectTo,
  fieldOf,
  get,
  HELLO,
  openOrigin,
  openTestGate,
  PUBLIC,
  readAll,
  readUntil,
  statusOf,
  talk,
  withCredential,
  write,
} from "./gate_fixture.ts";

Deno.test("openGate: a granted http URL is fetched in origin form and recorded, an unlisted one is denied", async () => {
  await using origin = openOrigin(HELLO);
  const dial = connectTo(origin);
  await using test = openTestGate({
    entries: ["http://example.com"],
    names: { "example.com": [PUBLIC] },
    connect: dial,
  });
  const answer = await talk(test.gate, get(test.gate, "http://example.com/a?b=c", "X-One: 1", "x-boll-two: 2"));
  assertEquals([statusOf(answer), answer.split("\r\n\r\n")[1]], [200, "hello"]);
  assertEquals(origin.received, "GET /a?b=c HTTP/1.1\r\nhost: example.com\r\nx-one: 1\r\nconnection: close\r\n\r\n");
  assertEquals(dial.asked, [`${PUBLIC} 80`]);

  const refused = await talk(test.gate, get(test.gate, "http://example.org/"));
  assertEquals([statusOf(refused), fieldOf(refused, "x-boll-error")], [403, "denied"]);
  assertEquals(fieldOf(refused, "x-boll-denied"), "http://example.org");
  await test.gate.close();
  assertEquals(origin.count, 1);
  assertEquals(test.denials, [{ grant: "net", asked: "http://example.org:80", allow: "http://example.org" }]);
  const [{ duration_ms, ...connection }] = test.connections as [typeof test.connections[0]];
  assert(duration_ms >= 0);
  assertEquals([connection, test.connections.length], [{
    ...{ scheme: "http", host: "example.com", port: 80, address: PUBLIC, entry: "http://example.com" },
    ...{ outcome: "opened", bytes_up: 0, bytes_down: 5 },
  }, 1]);
});

Deno.test("openGate: scheme, host and port must be an entry's, each alone is not enough", async () => {
  await using origin = openOrigin((connection) => write(connection, "tunnelled"));
  await using test = openTestGate({
    entries: ["https://a.test", "tcp://b.test:7000", "http://c.test:8080", "https://*.d.test"],
    resolve: () => Promise.resolve([PUBLIC]),
    connect: connectTo(origin),
  });
  const { gate } = test;
  const ask = async (text: string) => {
    const answer = await talk(gate, `${text}x\r\n\r\n`);
    return [statusOf(answer), answer.endsWith("tunnelled"), fieldOf(answer, "x-boll-denied")];
  };
  const rows: [string, number, string | undefined][] = [
    [connect(gate, "a.test:443"), 200, undefined],
    [connect(gate, "a.test:443", "x-boll-scheme: https"), 200, undefined],
    [connect(gate, "a.test:443", "x-boll-scheme: tcp"), 403, "tcp://a.test:443"],
    [connect(gate, "a.test:444"), 403, "https://a.test:444"],
    [connect(gate, "b.test:7000"), 200, undefined],
    [connect(gate, "b.test:7000", "x-boll-scheme: tcp"), 200, undefined],
    [connect(gate, "b.test:7000", "x-boll-scheme: https"), 403, "https://b.test:7000"],
    [connect(gate, "B.TEST.:7000"), 200, undefined],
    [connect(gate, "c.test:8080"), 403, "https://c.test:8080"],
    [connect(gate, "x.y.d.test:443"), 200, undefined],
    [connect(gate, "d.test:443"), 403, "https://d.test"],
    [connect(gate, "xd.test:443"), 403, "https://xd.test"],
    [connect(gate, "a.test.evil.test:443"), 403, "https://a.test.evil.test"],
  ];
  for (const [text, status, allow] of rows) {
    assertEquals(await ask(text), [status, status === 200, allow], text);
  }
  assertEquals(statusOf(await talk(gate, get(gate, "http://c.test/"))), 403);
  assertEquals(statusOf(await talk(gate, get(gate, "http://a.test/"))), 403);
});

Deno.test("openGate: only this gate's credential enters, and a stranger learns nothing else", async () => {
  await using origin = openOrigin(HELLO);
  const options = { entries: ["http://a.test"], names: { "a.test": [PUBLIC] }, connect: connectTo(origin) };
  await using test = openTestGate(options);
  await using other = openTestGate(options);
  const { gate } = test;
  const request = (...fields: string[]) =>
    ["GET http://a.test/ HTTP/1.1", "Host: a.test", ...fields, "", ""].join("\r\n");
  const wrong = gate.authorization.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  const strangers = [
    request(),
    request("Proxy-Authorization: "),
    request(`Proxy-Authorization: ${other.gate.authorization}`),
    request(`Proxy-Authorization: ${wrong}`),
    request(`Proxy-Authorization: ${gate.authorization.slice(0, -1)}`),
    request(`Proxy-Authorization: ${gate.authorization}x`),
    request(`Proxy-Authorization: ${gate.authorization}`, `Proxy-Authorization: ${gate.authorization}`),
    request(`Authorization: ${gate.authorization}`),
    // What is wrong with a request is for those who may make one.
    ["CONNECT nowhere.test:1 HTTP/1.1", "", ""].join("\r\n"),
  ];
  const answers = new Set<string>();
  for (const text of strangers) answers.add(await talk(gate, text));
  assertEquals(answers.size, 1);
  const [answer = ""] = answers;
  assertEquals([statusOf(answer), fieldOf(answer, "proxy-authenticate")], [407, 'Basic realm="boll"']);
  assert(!answer.includes(gate.credential.password));
  assertEquals([gate.counts.unauthorized, test.denials.length, origin.count], [strangers.length, 0, 0]);
  assertEquals(statusOf(await talk(gate, request(`Proxy-Authorization: ${gate.authorization}`))), 200);
  assertMatch(gate.credential.password, /^[0-9a-f]{32}$/);
  assertEquals(gate.authorization, `Basic ${btoa(`boll:${gate.credential.password}`)}`);
});

Deno.test("openGate: an origin that does not answer, each in its own words, also asked for afterwards", async () => {
  const refuse = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const closedPort = refuse.addr.port;
  refuse.close();
  await using test = openTestGate({
    entries: [`http://127.0.0.1:${closedPort}`, "http://unknown.test", "http://slow.test", "https://hang.test:444"],
    resolve: (name) =>
      name === "unknown.test"
        ? Promise.reject(new Error("none"))
        : name === "slow.test"
        ? new Promise(() => {})
        : Promise.resolve([PUBLIC, "93.184.216.35"]),
    connect: (address, port, signal) =>
      address === "127.0.0.1" ? Deno.connect({ hostname: address, port, signal }) : new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
    limits: { connectTimeoutMs: 60 },
  });
  const { gate } = test;
  const failureOf = async (place: string) =>
    JSON.parse(
      (await talk(gate, withCredential(gate, `GET /failure/${place} HTTP/1.1`, "Host: x"))).split("\r\n\r\n")[1]!,
    ).error;
  const rows: [string, number, string][] = [
    [get(gate, `http://127.0.0.1:${closedPort}/`), 502, "connection-refused"],
    [get(gate, "http://unknown.test/"), 502, "dns-error"],
    [get(gate, "http://slow.test/"), 504, "dns-timeout"],
    [connect(gate, "hang.test:444"), 504, "connection-timeout"],
  ];
  for (const [text, status, error] of rows) {
    const answer = await talk(gate, text);
    assertEquals([statusOf(answer), fieldOf(answer, "x-boll-error")], [status, error]);
  }
  assertEquals<unknown>(
    test.connections.map(({ outcome, error }) => [outcome, error]),
    rows.map(([, , error]) => ["failed", error]),
  );
  assertEquals(await failureOf("hang.test:444"), "connection-timeout");
  assertEquals(await failureOf("unknown.test:80"), "dns-error");
  assertEquals(await failureOf("never-asked.test:80"), null);
});

Deno.test("openGate: of a name's addresses the next is tried when one does not answer", async () => {
  await using origin = openOrigin(HELLO);
  const there = connectTo(origin);
  const asked: string[] = [];
  await using test = openTestGate({
    entries: ["http://a.test"],
    names: { "a.test": ["2606:4700::1", "10.0.0.1", PUBLIC] },
    connect: (address, port, signal) => {
      asked.push(address);
      return address === PUBLIC ? there(address, port, signal) : Promise.reject(new Deno.errors.ConnectionRefused());
    },
  });
  assertEquals(statusOf(await talk(test.gate, get(test.gate, "http://a.test/"))), 200);
  assertEquals(asked, ["2606:4700::1", PUBLIC]);
});

Deno.test("openGate: a connection that has reached another address than the checked one is dropped", async () => {
  await using origin = openOrigin(HELLO);
  for (const [peer, status] of [[PUBLIC, 200], ["93.184.216.35", 502], [`::ffff:${PUBLIC}`, 200]] as const) {
    await using test = openTestGate({
      entries: ["http://a.test"],
      names: { "a.test": [PUBLIC] },
      connect: (_, port, signal) => connectTo(origin)(peer, port, signal),
    });
    assertEquals(statusOf(await talk(test.gate, get(test.gate, "http://a.test/"))), status);
  }
});

Deno.test("Gate.resolveName: granted names and permitted addresses alone, and a later CONNECT carries the name", async () => {
  await using origin = openOrigin((connection) => write(connection, "tunnelled"));
  await using test = openTestGate({
    entries: ["tcp://db.test:5432", "tcp://10.0.0.9:5432", "tcp://inside.test:1", "tcp://localhost:9", "listen:8080"],
    names: { "db.test": [PUBLIC, "10.0.0.8", "10.0.0.9"], "inside.test": ["192.168.0.1"] },
    connect: connectTo(origin),
  });
  const { gate } = test;
  assertEquals(statusOf(await talk(gate, connect(gate, `${PUBLIC}:5432`))), 403);
  assertEquals(await gate.resolveName("DB.test."), { ok: true, addresses: [PUBLIC, "10.0.0.9"] });
  const answer = await talk(gate, `${connect(gate, `${PUBLIC}:5432`, "x-boll-scheme: tcp")}x\r\n\r\n`);
  assertStringIncludes(answer, "tunnelled");
  assertEquals(statusOf(await talk(gate, connect(gate, `${PUBLIC}:5433`))), 403);
  assertEquals(statusOf(await talk(gate, connect(gate, `10.0.0.8:5432`))), 403);
  assertEquals(await gate.resolveName("inside.test"), { ok: false, error: "destination-ip-prohibited" });
  assertEquals(await gate.resolveName("localhost"), { ok: true, addresses: ["127.0.0.1", "::1"] });
  assertEquals(await gate.resolveName("secret-data.evil.test"), { ok: false, error: "denied" });
  assertEquals(await gate.resolveName("a b\u001b[2J"), { ok: false, error: "denied" });
  await gate.close();
  assertEquals(test.connections.map(({ host, address }) => [host, address]), [["db.test", PUBLIC]]);
  assertEquals(test.denials.slice(-2), [
    { grant: "net", asked: "resolve secret-data.evil.test", allow: "tcp://secret-data.evil.test:PORT" },
    { grant: "net", asked: "resolve a b\\u{1b}[2J" },
  ]);
});

Deno.test("Gate.close: ends what is open at once, and every connection is recorded", async () => {
  await using origin = openOrigin(async (connection) => void (await readAll(connection)));
  const test = openTestGate({ entries: ["tcp://a.test:1"], names: { "a.test": [PUBLIC] }, connect: connectTo(origin) });
  const connection = await Deno.connect({ port: test.gate.port });
  await write(connection, connect(test.gate, "a.test:1"));
  assertMatch(await readUntil(connection, "\r\n\r\n"), /^HTTP\/1\.1 200 /);
  await test.gate.close();
  assertEquals(await readAll(connection), "");
  close(connection);
  assertEquals<unknown>(test.connections.map(({ outcome, error }) => [outcome, error]), [["opened", "closed"]]);
});

Deno.test("Gate.close: does not wait for a look-up or a connection that hangs", async () => {
  for (const isResolved of [false, true]) {
    const hangs = Promise.withResolvers<void>();
    const test = openTestGate({
      entries: ["tcp://a.test:1"],
      resolve: () => isResolved ? Promise.resolve([PUBLIC]) : (hangs.resolve(), new Promise(() => {})),
      connect: (_address, _port, signal) =>
        new Promise((_, reject) => {
          hangs.resolve();
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    });
    const connection = await Deno.connect({ port: test.gate.port });
    await write(connection, connect(test.gate, "a.test:1"));
    await hangs.promise;
    await test.gate.close();
    close(connection);
    assertEquals(test.connections.map(({ outcome, error }) => [outcome, error]), [["failed", "closed"]]);
  }
});

Deno.test("Gate.close: says that a record could not be kept, after which nothing more goes through", async () => {
  await using origin = openOrigin(HELLO);
  const test = openTestGate({
    entries: ["http://a.test"],
    names: { "a.test": [PUBLIC] },
    connect: connectTo(origin),
    onDenied: () => {
      throw new Error("disk full");
    },
  });
  assertEquals(statusOf(await talk(test.gate, get(test.gate, "http://a.test/"))), 200);
  await talk(test.gate, get(test.gate, "http://b.test/"));
  const failure = await test.gate.close().then(() => undefined, (error) => String(error));
  assertEquals(failure, "Error: disk full");
  assertEquals(await Deno.connect({ port: test.gate.port }).then(() => "open", () => "shut"), "shut");
});
