/**
 * HTTP heads and bodies, read by the gate and by the guest's own side, each written for itself: what the first lets
 * through, the second reads alike, however the bytes come in.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { BodyDecoder, framingOf } from "../../src/http1/body.ts";
import { HeadFault as GateFault } from "../../src/http1/head_fault.ts";
import { type Head, readHead as readGateHead } from "../../src/http1/head.ts";
import { readRequest } from "../../src/egress/request.ts";
import { WireReader as GateReader } from "../../src/http1/wire_reader.ts";
import { BodyReader, responseFraming } from "../../src/wasi/http/body_reader.ts";
import { HeadFault, readHead } from "../../src/wasi/net/head.ts";
import { WireReader } from "../../src/wasi/net/wire.ts";
import { byteMutation, mutateBytes } from "./byte_mutation.ts";
import { fuzz } from "./fuzz.ts";

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
    ",",
    "0\r\n\r\n",
    "0\r\nX: y\r\n\r\n",
    "5\r\nhello\r\n",
    ";x=y",
  ],
  ...[
    "Content-Length: 3\r\n",
    "Content-Length: 03, 3\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: gzip\r\n",
  ],
  ...[
    "Connection: close, X\r\n",
    "Host: b.test\r\n",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.0 ",
    "ffffffffffff\r\n",
    "-1\r\n",
    "0x5\r\n",
  ],
  ...[
    "\x80",
    "\xff",
    "chunked",
    " folded\r\n",
    "X\r\n",
    ": y\r\n",
    "x".repeat(9_000),
    "X: y\r\n".repeat(400),
    "z".repeat(70_000),
  ],
];
const SEEDS = [
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x\r\nabc\r\n0\r\nT: u\r\n\r\n",
  "HTTP/1.1 204 No Content\r\n\r\n",
  "HTTP/1.1 200 \r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n\r\nuntil the end",
  "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nX-Boll-Scheme: tcp\r\n\r\n",
  "CONNECT a.test:1 HTTP/1.1\r\nHost: a.test:1\r\nX-Boll-Scheme: https\r\n\r\n",
  "POST http://[::1]:80/?q HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 2\r\n\r\nok",
  "GET /failure/a.test:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
];
const message = fc.tuple(fc.constantFrom(...SEEDS), fc.array(byteMutation(PIECES), { maxLength: 4 }))
  .map(([seed, changes]) => mutateBytes(Uint8Array.from(seed, (character) => character.charCodeAt(0)), changes));
const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 30 });

/** A wire that gives the bytes in pieces of these sizes, the rest at once. */
function wireOf(bytes: Uint8Array, sizes: readonly number[]) {
  let [at, turn] = [0, 0];
  return {
    read(into: Uint8Array): Promise<number | null> {
      const piece = bytes.subarray(at, at + Math.min(sizes[turn++] ?? Infinity, into.length));
      into.set(piece);
      at += piece.length;
      return Promise.resolve(piece.length === 0 ? null : piece.length);
    },
    write: (part: Uint8Array) => Promise.resolve(part.length),
    closeWrite: () => Promise.resolve(),
    remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 } as const,
    close() {},
  };
}

type Fault = { readonly fault: true };

async function orFault<T>(act: () => Promise<T> | T, kind: new (...args: never[]) => Error): Promise<T | Fault> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof kind)) throw error;
    return { fault: true };
  }
}

const isFault = (value: object | undefined): value is Fault => value !== undefined && "fault" in value;

const gateHead = (bytes: Uint8Array, sizes: readonly number[]) =>
  orFault(() => readGateHead(new GateReader(wireOf(bytes, sizes)), 65_536), GateFault);
const guestHead = (bytes: Uint8Array, sizes: readonly number[]) =>
  orFault(() => readHead(new WireReader(wireOf(bytes, sizes))), HeadFault);

fuzz("a head that the gate reads, the guest's side reads alike, however it comes in; any other is a fault", {
  input: fc.tuple(message, cuts),
  runs: 2_500,
  async check([bytes, sizes]) {
    const [gate, whole] = [await gateHead(bytes, sizes), await gateHead(bytes, [])];
    assertEquals(gate, whole);
    const guest = await guestHead(bytes, sizes);
    assertEquals(guest, await guestHead(bytes, []));
    if (gate === undefined || isFault(gate)) return;
    assert(!isFault(guest), "the gate reads it, the guest's side does not");
    const lower = guest.fields.map(([name, value]) => [name.toLowerCase(), value] as const);
    assertEquals([guest.line, lower], [gate.line, gate.fields]);
    checkRequest(gate);
  },
});

/** What goes on to an origin is one request, to the place that was matched. */
function checkRequest(head: Head): void {
  let request: ReturnType<typeof readRequest>;
  try {
    request = readRequest(head);
  } catch (error) {
    if (!(error instanceof GateFault)) throw error;
    return;
  }
  assert(request.port >= 1 && request.port <= 65_535 && request.host !== "", `${request.host}:${request.port}`);
  if (request.kind !== "forward") return;
  const text = String.fromCharCode(...request.head.subarray(0, 60_000));
  assertEquals(text.match(/\r\n\r\n/g)?.length, 1, "heads in what is passed on");
  assertEquals(text.match(/^host:/gim)?.length, 1, "hosts in what is passed on");
  assert(!/^(connection:(?! close\r$)|proxy-|transfer-encoding:(?! chunked\r$)|x-boll-)/im.test(text), text);
}

async function gateBody(bytes: Uint8Array, sizes: readonly number[], decoder: BodyDecoder): Promise<string | Fault> {
  return await orFault(() => {
    let data = "";
    for (let at = 0, turn = 0; at < bytes.length && !decoder.isDone; turn++) {
      const piece = bytes.subarray(at, at + (sizes[turn] ?? Infinity));
      for (let taken = 0; taken < piece.length && !decoder.isDone;) {
        const step = decoder.decode(piece.subarray(taken));
        assert(step.taken > 0, "the decoder takes nothing and is not done");
        data += latin(step.data);
        taken += step.taken;
      }
      at += piece.length;
    }
    return data;
  }, GateFault);
}

async function guestBody(
  bytes: Uint8Array,
  sizes: readonly number[],
  reader: (wire: WireReader) => BodyReader,
): Promise<string | Fault> {
  return await orFault(async () => {
    const body = reader(new WireReader(wireOf(bytes, sizes)));
    let data = "";
    for (let piece = await body.next(); piece !== undefined; piece = await body.next()) data += latin(piece);
    return data;
  }, HeadFault);
}

const latin = (bytes: Uint8Array) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");

fuzz("a body that the gate takes out of its framing whole, the guest's side takes out alike", {
  input: fc.tuple(
    fc.tuple(
      fc.constantFrom("5\r\nhello\r\n0\r\n\r\n", "3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: u\r\n\r\n", "hello"),
      fc.array(byteMutation(PIECES), { maxLength: 3 }),
    )
      .map(([seed, changes]) => mutateBytes(Uint8Array.from(seed, (character) => character.charCodeAt(0)), changes)),
    cuts,
    fc.constantFrom({ kind: "chunked" as const }, { kind: "length" as const, bytes: 5 }, {
      kind: "until_end" as const,
    }),
  ),
  runs: 2_500,
  async check([bytes, sizes, framing]) {
    const decoder = new BodyDecoder(framing);
    const [gate, again] = [await gateBody(bytes, sizes, decoder), await gateBody(bytes, [], new BodyDecoder(framing))];
    assertEquals(gate, again);
    const guest = await guestBody(bytes, sizes, (wire) => new BodyReader(wire, framing));
    assertEquals(guest, await guestBody(bytes, [], (wire) => new BodyReader(wire, framing)));
    const isWhole = decoder.isDone || framing.kind === "until_end";
    if (typeof gate === "string" && isWhole) assertEquals(guest, gate);
  },
});

fuzz("the framing that the gate finds in a response, the guest's side finds too", {
  input: fc.array(
    fc.tuple(
      fc.constantFrom("content-length", "transfer-encoding", "x"),
      fc.constantFrom(
        "5",
        "05",
        "5, 5",
        "5,6",
        "-1",
        "+5",
        "",
        "chunked",
        "CHUNKED",
        "gzip, chunked",
        "999999999999999",
        "1e3",
        "5\t",
      ),
    ),
    { maxLength: 3 },
  ),
  runs: 1_500,
  async check(fields) {
    const gate = await orFault(() => framingOf(fields) ?? { kind: "until_end" as const }, GateFault);
    const guest = await orFault(() => responseFraming("GET", 200, fields), HeadFault);
    if (!isFault(gate)) assertEquals(guest, gate);
  },
});
