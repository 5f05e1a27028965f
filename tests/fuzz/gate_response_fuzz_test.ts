/** What an origin answers, through a real gate: it is passed on as one whole message, or as a refusal of the gate's own. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  close,
  connectTo,
  get,
  openOrigin,
  openTestGate,
  PUBLIC,
  readAll,
  write,
} from "../../src/egress/gate_fixture.ts";
import { byteMutation, mutateBytes } from "./byte_mutation.ts";
import { fuzz } from "./fuzz.ts";

const PIECES = [
  ...["\r", "\n", "\r\n", "\r\n\r\n", "\0", " ", ":", "0\r\n\r\n", "5\r\nhello\r\n", "Content-Length: 3\r\n", "\x80"],
  ...[
    "Transfer-Encoding: chunked\r\n",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\n",
    "HTTP/1.0 ",
  ],
  ...[
    "Connection: X, close\r\n",
    "Proxy-Authenticate: Basic\r\n",
    "X-Boll-Error: x\r\n",
    "ffffffffffff\r\n",
    "z".repeat(70_000),
  ],
];
const SEEDS = [
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x\r\nabc\r\n0\r\nT: u\r\n\r\n",
  "HTTP/1.1 204 No Content\r\n\r\n",
  "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nuntil the end",
];
const latin = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const answer = fc.tuple(fc.constantFrom(...SEEDS), fc.array(byteMutation(PIECES), { maxLength: 4 }))
  .map(([seed, changes]) => mutateBytes(latin(seed), changes));

fuzz("whatever an origin answers, the gate's client gets one message, and the gate lives on", {
  input: fc.tuple(fc.array(answer, { minLength: 1, maxLength: 4 }), fc.nat(600)),
  runs: 80,
  async check([answers, cut]) {
    let turn = 0;
    await using origin = openOrigin(async (connection) => {
      const bytes = turn < answers.length ? answers[turn++]! : latin(SEEDS[0]!);
      await connection.write(bytes.subarray(0, cut)).catch(() => 0);
      for (let at = cut; at < bytes.length;) at += await connection.write(bytes.subarray(at)).catch(() => bytes.length);
      await connection.closeWrite().catch(() => {});
      await readAll(connection).catch(() => {});
    });
    await using test = openTestGate({
      entries: ["http://a.test"],
      resolve: () => Promise.resolve([PUBLIC]),
      connect: connectTo(origin),
    });
    const ask = async () => {
      const connection = await Deno.connect({ port: test.gate.port });
      await write(connection, get(test.gate, "http://a.test/"));
      const text = await readAll(connection);
      close(connection);
      return text;
    };
    for (const _ of answers) {
      const text = await ask();
      if (text === "") continue;
      const head = text.slice(0, text.indexOf("\r\n\r\n") + 4);
      assert(/^HTTP\/1\.1 [1-5]\d\d [^\r\n]*\r\n/.test(head), JSON.stringify(text.slice(0, 300)));
      assert(
        !/[^\P{Cc}\r\n\t]/u.test(head) && !/[^\r]\n|\r[^\n]/.test(head),
        JSON.stringify(head.slice(0, 300)),
      );
      const framings = head.match(/^(content-length|transfer-encoding):/gim)?.length ?? 0;
      assert(framings <= 1, `${framings} framings: ${JSON.stringify(head.slice(0, 300))}`);
    }
    assertEquals((await ask()).endsWith("hello"), true, "the gate lives on");
  },
});
