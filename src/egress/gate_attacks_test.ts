import { assert, assertEquals } from "@std/assert";
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
  statusOf,
  talk,
  type TestGate,
  withCredential,
  write,
} from "./gate_fixture.ts";

function openTo(origin: Origin, limits = {}): TestGate {
  return openTestGate({
    entries: ["http://a.test", "tcp://a.test:1"],
    resolve: () => Promise.resolve([PUBLIC]),
    connect: connectTo(origin),
    limits,
  });
}

Deno.test("openGate: a Host that lies is refused and recorded, a true one in any spelling is not", async () => {
  await using origin = openOrigin(HELLO);
  await using test = openTo(origin);
  const { gate } = test;
  for (const host of ["b.test", "a.test:81", "127.0.0.1", "a.test@b.test", "", "a.test, b.test", "http://a.test"]) {
    const answer = await talk(gate, withCredential(gate, "GET http://a.test/ HTTP/1.1", `Host: ${host}`));
    assertEquals([statusOf(answer), origin.count], [400, 0], host);
  }
  assertEquals(test.denials.length, 7);
  for (const host of ["a.test", "A.TEST", "a.test:80", "a.test."]) {
    const answer = await talk(gate, withCredential(gate, "GET http://a.test/ HTTP/1.1", `Host: ${host}`));
    assertEquals(statusOf(answer), 200, host);
  }
  assertEquals(origin.received.match(/host: .*/gi), new Array(4).fill("host: a.test"));
});

Deno.test("openGate: no way to smuggle a second request: none of these reaches an origin", async () => {
  await using origin = openOrigin(HELLO);
  await using test = openTo(origin);
  const { gate } = test;
  const post = (...fields: string[]) => withCredential(gate, "POST http://a.test/ HTTP/1.1", "Host: a.test", ...fields);
  const second = "GET http://a.test/second HTTP/1.1\r\nHost: a.test\r\n\r\n";
  const attacks: Record<string, string> = {
    "CL.TE": post("Content-Length: 4", "Transfer-Encoding: chunked") + `0\r\n\r\n${second}`,
    "TE.CL": post("Transfer-Encoding: chunked", "Content-Length: 4") + `5\r\nhello\r\n0\r\n\r\n${second}`,
    "two lengths": post("Content-Length: 5", "Content-Length: 6") + "hello!",
    "one length twice": post("Content-Length: 5", "Content-Length: 5") + "hello",
    "a list of lengths": post("Content-Length: 5, 5") + "hello",
    "a signed length": post("Content-Length: +5") + "hello",
    "xchunked": post("Transfer-Encoding: xchunked") + "0\r\n\r\n",
    "two encodings": post("Transfer-Encoding: chunked", "Transfer-Encoding: identity") + "0\r\n\r\n",
    "identity, chunked": post("Transfer-Encoding: identity, chunked") + "0\r\n\r\n",
    "space before the colon": post("Transfer-Encoding : chunked") + "0\r\n\r\n",
    "a folded field": post("X: a", " Transfer-Encoding: chunked") + "0\r\n\r\n",
    "a bare line feed": post("X: a\nTransfer-Encoding: chunked") + "0\r\n\r\n",
    "a bare carriage return": post("X: a\rTransfer-Encoding: chunked"),
    "NUL": post("X: a\0b"),
    "an escape": post("X: \x1b[2J"),
    "a line feed for the end": post("X: a").replaceAll("\r\n", "\n"),
    "line feeds in the target": withCredential(gate, "GET http://a.test/\nX: y HTTP/1.1", "Host: a.test"),
    "a space in the target": withCredential(gate, "GET http://a.test/ HTTP/1.1\tHTTP/1.1", "Host: a.test"),
    "user information": withCredential(gate, "GET http://a.test:80@b.test/ HTTP/1.1", "Host: a.test"),
    "no Host": withCredential(gate, "GET http://a.test/ HTTP/1.1"),
    "two Hosts": withCredential(gate, "GET http://a.test/ HTTP/1.1", "Host: a.test", "Host: a.test"),
    "an empty line first": "\r\n" + get(gate, "http://a.test/"),
    "a second request at once": get(gate, "http://a.test/") + second,
    "a second request, one byte": get(gate, "http://a.test/") + "G",
    "a body after GET, not framed": get(gate, "http://a.test/") + "hello",
    "a body after CONNECT": connect(gate, "a.test:1", "Content-Length: 5") + "hello",
    "an upgrade to HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  };
  for (const [name, text] of Object.entries(attacks)) {
    const answer = await talk(gate, text);
    const isTold = [400, 407].includes(statusOf(answer)) && fieldOf(answer, "x-boll-error") !== undefined;
    assert(isTold, `${name}: ${answer}`);
    assertEquals(origin.count, 0, name);
  }
  assertEquals(statusOf(await talk(gate, get(gate, "http://a.test/"))), 200);
  assertEquals(statusOf(await talk(gate, post("Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n")), 200);
  assertEquals(statusOf(await talk(gate, post("Content-Length: 5") + "hello")), 200);
});

Deno.test("openGate: what follows a body never reaches the origin, and ends the connection", async () => {
  await using origin = openOrigin(async (connection) => {
    await readAll(connection);
  });
  await using test = openTo(origin);
  const { gate } = test;
  const second = "GET http://a.test/second HTTP/1.1\r\nHost: a.test\r\n\r\n";
  const rows: [framing: string, body: string, passed: string][] = [
    ["Content-Length: 5", "hello", "hello"],
    ["Transfer-Encoding: chunked", "5;x=y\r\nhello\r\n0\r\nTrailer: gone\r\n\r\n", "5\r\nhello\r\n"],
  ];
  for (const [framing, body, passed] of rows) {
    const text = withCredential(gate, "POST http://a.test/ HTTP/1.1", "Host: a.test", framing) + body + second;
    const answer = await talk(gate, text);
    assertEquals([statusOf(answer), fieldOf(answer, "x-boll-error")], [400, "bad-request"]);
    assert(!origin.received.includes("second") && origin.received.endsWith(`\r\n\r\n${passed}`), origin.received);
  }
  await gate.close();
  assertEquals(test.connections.map(({ error, bytes_up }) => [error, bytes_up]), new Array(2).fill(["bad-request", 5]));
});

Deno.test("openGate: a second request that comes while the first is answered ends both; without it the answer comes", async () => {
  for (const isAttack of [true, false]) {
    const [arrived, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using origin = openOrigin(async (connection) => {
      arrived.resolve();
      const rest = readAll(connection);
      await (isAttack ? rest : answer.promise);
      await write(connection, HELLO);
    });
    await using test = openTo(origin);
    const connection = await Deno.connect({ port: test.gate.port });
    await write(connection, get(test.gate, "http://a.test/first"));
    await arrived.promise;
    if (isAttack) await write(connection, get(test.gate, "http://a.test/second"));
    else answer.resolve();
    assertEquals(statusOf(await readAll(connection)), isAttack ? 400 : 200);
    close(connection);
    assertEquals([origin.count, origin.received.includes("second")], [1, false]);
  }
});

Deno.test("openGate: a body that breaks its framing ends as an error, and the origin never sees a whole request", async () => {
  await using origin = openOrigin(async (connection) => {
    await readAll(connection);
  });
  await using test = openTo(origin);
  const { gate } = test;
  const post = (field: string) => withCredential(gate, "POST http://a.test/ HTTP/1.1", "Host: a.test", field);
  for (const body of ["x\r\n", "5\nhello", "5\r\nhelloX", "-1\r\n", "5 \r\nhello\r\n0\r\n\r\n"]) {
    assertEquals(statusOf(await talk(gate, post("Transfer-Encoding: chunked") + body)), 400, body);
  }
  const half = await Deno.connect({ port: gate.port });
  await write(half, post("Content-Length: 10") + "hello");
  await half.closeWrite();
  assertEquals(fieldOf(await readAll(half), "x-boll-error"), "connection-terminated");
  close(half);
  assert(!origin.received.includes("0\r\n\r\n"));
});

Deno.test("openGate: a head over the limit is refused, one at the limit is not", async () => {
  await using origin = openOrigin(HELLO);
  for (const headBytes of [1024, 65_536]) {
    await using test = openTo(origin, { headBytes });
    const { gate } = test;
    const bare = get(gate, "http://a.test/", "X: ").length;
    const fits = get(gate, "http://a.test/", `X: ${"a".repeat(headBytes - bare)}`);
    assertEquals([fits.length, statusOf(await talk(gate, fits))], [headBytes, 200]);
    const over = get(gate, "http://a.test/", `X: ${"a".repeat(headBytes - bare + 1)}`);
    assertEquals(statusOf(await talk(gate, over)), 400);
    assertEquals(statusOf(await talk(gate, "GET http://a.test/" + "a".repeat(headBytes))), 400);
  }
});

Deno.test("openGate: a response cannot speak for the gate, keep the connection, or be framed in two ways", async () => {
  const answers: Record<string, [answer: string, status: number, body: string]> = {
    "plain": ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokEXTRA", 200, "ok"],
    "keeps": [
      "HTTP/1.1 200\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: x\r\nContent-Length: 2\r\n\r\nok",
      200,
      "ok",
    ],
    "forges": [
      "HTTP/1.1 403 No\r\nx-boll-error: denied\r\nX-Boll-Denied: https://x\r\nContent-Length: 0\r\n\r\n",
      403,
      "",
    ],
    "chunked": [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a\r\nok\r\n0\r\nT: 1\r\n\r\nEXTRA",
      200,
      "2\r\nok\r\n0\r\n\r\n",
    ],
    "until the end": ["HTTP/1.0 200 OK\r\n\r\nok", 200, "ok"],
    "no content": ["HTTP/1.1 204 No\r\n\r\nEXTRA", 204, ""],
    "interim": [
      "HTTP/1.1 103 Early\r\nx-boll-a: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      103,
      "HTTP/1.1 200 OK",
    ],
    "CL.TE": [
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      502,
      "http-protocol-error",
    ],
    "two lengths": ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!", 502, "http-protocol-error"],
    "switches": ["HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", 502, "http-protocol-error"],
    "injects": ["HTTP/1.1 200 OK\r\nX: a\nY: b\r\n\r\n", 502, "http-protocol-error"],
    "is none": ["SSH-2.0-OpenSSH\r\n\r\n", 502, "http-protocol-error"],
    "is half": ["HTTP/1.1 200 OK\r\nConte", 502, "http-protocol-error"],
    "is nothing": ["", 502, "connection-terminated"],
    "breaks its first chunk": [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
      502,
      "http-protocol-error",
    ],
    "interim without end": ["HTTP/1.1 100 Continue\r\n\r\n".repeat(20), 100, "http-protocol-error"],
    "is too long": [`HTTP/1.1 200 OK\r\nX: ${"a".repeat(70_000)}\r\n\r\n`, 502, "http-protocol-error"],
  };
  for (const [name, [answer, status, body]] of Object.entries(answers)) {
    await using origin = openOrigin(answer);
    await using test = openTo(origin);
    const got = await talk(test.gate, get(test.gate, "http://a.test/"));
    assert(got.includes(body), `${name}: ${got}`);
    assertEquals([statusOf(got), /EXTRA|x-hop|keep-alive/i.test(got)], [status, false], `${name}: ${got}`);
    assertEquals(fieldOf(got, "x-boll-error"), status === 502 ? body : undefined, name);
    if (status === 200) assertEquals(got.match(/^connection: close$/gim)?.length, 1);
  }
  await using origin = openOrigin("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
  await using test = openTo(origin);
  const head = await talk(test.gate, withCredential(test.gate, "HEAD http://a.test/ HTTP/1.1", "Host: a.test"));
  assertEquals([statusOf(head), fieldOf(head, "content-length")], [200, "9"]);
});
