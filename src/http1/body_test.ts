import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { BodyDecoder, ChunkEncoder, type Framing, framingOf, LAST_CHUNK } from "./body.ts";
import { accepted } from "./fault_fixture.ts";
import { HeadFault } from "./head_fault.ts";

const encode = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** The data, and what is left over, when the text comes in these pieces. */
function decodeAll(framing: Framing, pieces: readonly Uint8Array[]): { data: string; rest: string; isDone: boolean } {
  const decoder = new BodyDecoder(framing);
  let [data, rest] = ["", ""];
  for (let bytes of pieces) {
    while (bytes.length > 0 && !decoder.isDone) {
      const step = decoder.decode(bytes);
      data += String.fromCharCode(...step.data);
      bytes = bytes.subarray(step.taken);
    }
    rest += String.fromCharCode(...bytes);
  }
  return { data, rest, isDone: decoder.isDone };
}

Deno.test("framingOf: one plain framing or none; two, twice or strange is a fault", () => {
  assertEquals(framingOf([]), undefined);
  assertEquals(framingOf([["content-length", "0"]]), { kind: "length", bytes: 0 });
  assertEquals(framingOf([["content-length", "123456789012345"]]), { kind: "length", bytes: 123456789012345 });
  assertEquals(framingOf([["transfer-encoding", "Chunked"]]), { kind: "chunked" });
  const wrong: [string, string][][] = [
    [["content-length", "5"], ["content-length", "5"]],
    [["content-length", "5"], ["transfer-encoding", "chunked"]],
    [["transfer-encoding", "chunked"], ["content-length", "5"]],
    [["transfer-encoding", "chunked"], ["transfer-encoding", "chunked"]],
    ...["5, 5", "+5", "-1", "0x5", "5 ", "", "1e3", "1234567890123456", "٥"].map((
      value,
    ): [string, string][] => [["content-length", value]]),
    ...["xchunked", "chunked, identity", "gzip, chunked", "identity", "", "\x0bchunked", "chunked;q=1"].map((
      value,
    ): [string, string][] => [["transfer-encoding", value]]),
  ];
  for (const fields of wrong) assertThrows(() => framingOf(fields), HeadFault);
});

Deno.test("BodyDecoder: a chunked body at every split point, with extensions, trailers and what follows", () => {
  const whole = encode("5;a=b\r\nhello\r\n00A\r\n0123456789\r\n0;x\r\nTrailer: 1\r\nOther: 2\r\n\r\nNEXT");
  const wanted = { data: "hello0123456789", rest: "NEXT", isDone: true };
  for (let at = 0; at <= whole.length; at++) {
    assertEquals(decodeAll({ kind: "chunked" }, [whole.subarray(0, at), whole.subarray(at)]), wanted, `${at}`);
  }
  assertEquals(decodeAll({ kind: "chunked" }, Array.from(whole, (byte) => Uint8Array.of(byte))), wanted);
});

Deno.test("BodyDecoder: exactly the declared length, and all of a body until the end", () => {
  assertEquals(decodeAll({ kind: "length", bytes: 5 }, [encode("hel"), encode("loNEXT")]), {
    ...{ data: "hello", rest: "NEXT", isDone: true },
  });
  assertEquals(decodeAll({ kind: "length", bytes: 0 }, [encode("X")]), { data: "", rest: "X", isDone: true });
  assertEquals(decodeAll({ kind: "until_end" }, [encode("a"), encode("b")]), { data: "ab", rest: "", isDone: false });
});

Deno.test("BodyDecoder: a chunk that readers could read in two ways is a fault", () => {
  const wrong = [
    ...["\r\n", "x\r\n", "0x5\r\nhello\r\n", "+5\r\nhello\r\n", " 5\r\nhello\r\n", "5 \r\nhello\r\n", "-1\r\n"],
    ...["5\nhello\r\n", "5\r\rhello", "5\r\nhello\n", "5\r\nhello0\r\n\r\n", "5\r\nhelloX\r\n", "5\r\nhello\r\r\n"],
    ...["0000000000005\r\n", "fffffffffffff\r\n", "5;a\nb\r\nhello\r\n", "5;\0\r\nhello\r\n"],
    ...["0\r\nTrailer: 1\n\r\n", "0\r\n\rX", "0\r\na: \x7f\r\n\r\n", "0\n\n"],
    `5;${"a".repeat(1025)}\r\nhello\r\n`,
    `0\r\n${"a: b\r\n".repeat(3000)}\r\n`,
  ];
  assertEquals(accepted(wrong, (text) => decodeAll({ kind: "chunked" }, [encode(text)])), []);
});

Deno.test("BodyDecoder: what ChunkEncoder frames it reads back, in any pieces, and never more than there is", () => {
  const chunks = new ChunkEncoder();
  const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 8 });
  fc.assert(
    fc.property(pieces, fc.uint8Array({ maxLength: 9 }), fc.integer({ min: 1, max: 20 }), (data, after, size) => {
      const whole = Uint8Array.from([...data.flatMap((piece) => [...chunks.encode(piece)]), ...LAST_CHUNK, ...after]);
      const cut = Array.from(
        { length: Math.ceil(whole.length / size) },
        (_, at) => whole.subarray(at * size, at * size + size),
      );
      assertEquals(decodeAll({ kind: "chunked" }, cut), {
        data: data.map((piece) => String.fromCharCode(...piece)).join(""),
        rest: String.fromCharCode(...after),
        isDone: true,
      });
    }),
  );
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.string({ unit: fc.constantFrom(..."05aF;\r\n x") }).map(encode),
  );
  fc.assert(
    fc.property(bytes, (bytes) => {
      try {
        const { data, rest } = decodeAll({ kind: "chunked" }, [bytes]);
        return data.length + rest.length <= bytes.length;
      } catch (error) {
        return error instanceof HeadFault;
      }
    }),
    { numRuns: 2000 },
  );
});
