import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  close,
  connect,
  connectTo,
  get,
  openOrigin,
  openTestGate,
  PUBLIC,
  readAll,
  withCredential,
  write,
} from "./gate_fixture.ts";

/** What an origin that reads simply finds behind the first request; that is what smuggling is. */
function behindFirst(received: string): string {
  const end = received.indexOf("\r\n\r\n") + 4;
  const [head, body] = [received.slice(0, end), received.slice(end)];
  const length = /^content-length: (\d+)\r$/im.exec(head)?.[1];
  if (length !== undefined) return body.slice(Number(length));
  if (!/^transfer-encoding: chunked\r$/im.test(head)) return body;
  for (let at = 0;;) {
    const line = body.indexOf("\r\n", at);
    if (line < 0) return "";
    const size = parseInt(body.slice(at, line), 16);
    if (Number.isNaN(size)) return `no chunk size: ${body.slice(at, line)}`;
    if (size === 0) return body.slice(line + 4);
    at = line + 2 + size + 2;
  }
}

type Mutation = { readonly at: number; readonly drop: number; readonly insert: string };

const PIECES = [
  ...[
    "\r",
    "\n",
    "\r\n",
    "\r\n\r\n",
    "\0",
    " ",
    "\t",
    ":",
    "0\r\n\r\n",
    "Content-Length: 3\r\n",
    "Transfer-Encoding: chunked\r\n",
  ],
  ...[
    "Host: b.test\r\n",
    "GET http://a.test/SMUGGLED HTTP/1.1\r\nHost: a.test\r\n\r\n",
    "@b.test",
    "\x80",
    "ffffffffffff\r\n",
    "chunked",
  ],
];

Deno.test({
  name:
    "openGate: whatever the bytes, every connection ends, no origin ever finds a second request, and the gate lives on",
  async fn() {
    let found: string[] = [];
    await using origin = openOrigin(async (connection, head) => {
      const answered = write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").catch(() => {});
      found.push(head + await readAll(connection));
      await answered;
    });
    await using test = openTestGate({
      entries: ["http://a.test", "tcp://a.test:1"],
      resolve: () => Promise.resolve([PUBLIC]),
      connect: connectTo(origin),
    });
    const { gate } = test;
    const second = "GET http://a.test/SMUGGLED HTTP/1.1\r\nHost: a.test\r\n\r\n";
    const post = (field: string) =>
      withCredential(gate, "POST http://a.test/x HTTP/1.1", "Host: a.test", "X: y", field);
    const seeds = [
      get(gate, "http://a.test/"),
      get(gate, "http://a.test/") + second,
      post("Content-Length: 5") + "hello" + second,
      post("Transfer-Encoding: chunked") + "5\r\nhello\r\n3;x\r\nabc\r\n0\r\nT: u\r\n\r\n" + second,
      connect(gate, "a.test:1"),
    ];
    const mutation: fc.Arbitrary<Mutation> = fc.record({
      at: fc.nat(400),
      drop: fc.nat(3),
      insert: fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 4 }), fc.constant("")),
    });
    const sample = fc.tuple(fc.constantFrom(...seeds), fc.array(mutation, { maxLength: 3 }), fc.nat(600));
    await fc.assert(
      fc.asyncProperty(sample, async ([seed, mutations, cut]) => {
        found = [];
        let text = seed;
        for (const { at, drop, insert } of mutations) text = text.slice(0, at) + insert + text.slice(at + drop);
        const connection = await Deno.connect({ port: gate.port });
        const answer = readAll(connection);
        await write(connection, text.slice(0, cut)).catch(() => {});
        await write(connection, text.slice(cut)).then(() => connection.closeWrite()).catch(() => {});
        await answer;
        close(connection);
        for (const received of found) {
          if (!received.startsWith("GET /") && !received.startsWith("POST /")) continue;
          assertEquals(behindFirst(received), "", JSON.stringify([text, received]));
        }
      }),
      { numRuns: 600 },
    );
    const connection = await Deno.connect({ port: gate.port });
    await write(connection, get(gate, "http://a.test/"));
    assertEquals((await readAll(connection)).endsWith("ok"), true);
    close(connection);
    await gate.close();
    assertEquals(test.connections.every(({ entry }) => entry === "http://a.test" || entry === "tcp://a.test:1"), true);
  },
});
