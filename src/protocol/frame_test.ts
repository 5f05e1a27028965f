import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import fc from "fast-check";
import { CapsuleError } from "../base/mod.ts";
import { encodeFrame, FrameDecoder, MAX_FRAME_BYTES, MAX_FRAME_VALUES } from "./mod.ts";

function decodeAll(chunks: readonly Uint8Array[]): Record<string, unknown>[] {
  const decoder = new FrameDecoder();
  const messages = chunks.flatMap((chunk) => [...decoder.push(chunk)]);
  decoder.end();
  return messages;
}

function concat(...parts: Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function prefix(length: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, length);
  return bytes;
}

function codeOf(fn: () => unknown): string {
  return assertThrows(fn, CapsuleError).code;
}

const ONE = { type: "ping", seq: 1 };
const TWO = { type: "é漢\n", nested: { list: [1, null, "x"] } };

Deno.test("FrameDecoder: two frames are read whole at every split point", () => {
  const bytes = concat(encodeFrame(ONE), encodeFrame(TWO));
  for (let split = 0; split <= bytes.length; split++) {
    assertEquals(decodeAll([bytes.subarray(0, split), bytes.subarray(split)]), [ONE, TWO], `split at ${split}`);
  }
  assertEquals(decodeAll([...bytes].map((byte) => Uint8Array.of(byte))), [ONE, TWO]);
});

Deno.test("FrameDecoder: any messages in any chunks come back in order", () => {
  const message = fc.record({ type: fc.string(), value: fc.jsonValue() });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.nat(97), { maxLength: 30 }), (messages, cuts) => {
      const bytes = concat(...messages.map(encodeFrame));
      const points = [...new Set(cuts.map((cut) => Math.floor((cut / 97) * bytes.length)))].sort((a, b) => a - b);
      const chunks = [0, ...points].map((start, i) => bytes.subarray(start, points[i] ?? bytes.length));
      assertEquals(JSON.stringify(decodeAll(chunks)), JSON.stringify(messages));
    }),
  );
});

Deno.test("frames: the cap is inclusive, one byte more is refused by writer and reader", () => {
  const fits = { t: "x".repeat(MAX_FRAME_BYTES - '{"t":""}'.length) };
  assertEquals(decodeAll([encodeFrame({ t: fits.t.slice(1) })]), [{ t: fits.t.slice(1) }]);
  assertEquals(encodeFrame(fits).length, MAX_FRAME_BYTES + 4);
  assertEquals(decodeAll([encodeFrame(fits)]).length, 1);
  assertEquals(codeOf(() => encodeFrame({ t: fits.t + "x" })), "protocol.frame_too_large");
  assertEquals(codeOf(() => [...new FrameDecoder().push(prefix(MAX_FRAME_BYTES + 1))]), "protocol.frame_too_large");
  assertEquals([...new FrameDecoder().push(prefix(MAX_FRAME_BYTES))], []);
});

Deno.test("FrameDecoder: hostile lengths are refused before anything is allocated", () => {
  for (const length of [2 ** 32 - 1, 2 ** 31, MAX_FRAME_BYTES + 1]) {
    const error = assertThrows(() => [...new FrameDecoder().push(prefix(length))], CapsuleError);
    assertEquals(error.code, "protocol.frame_too_large");
    assertMatch(error.message, /at byte 0/);
  }
});

Deno.test("FrameDecoder: what is not one JSON object is a fault that names the offset and not the payload", () => {
  const payloads = ["", "[]", "null", "7", '"x"', "{", '{"a":1}{', "secret\xff"];
  for (const text of payloads) {
    const payload = new TextEncoder().encode(text);
    const good = encodeFrame(ONE);
    const decoder = new FrameDecoder();
    const error = assertThrows(() => [...decoder.push(concat(good, prefix(payload.length), payload))], CapsuleError);
    assertEquals(error.code, "protocol.not_json", text);
    assertMatch(error.message, new RegExp(`byte ${good.length + 4}$`));
    assertEquals(error.message.includes("secret"), false);
  }
  const invalid = Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d);
  assertEquals(codeOf(() => [...new FrameDecoder().push(concat(prefix(5), invalid))]), "protocol.not_json");
});

Deno.test("FrameDecoder: a stream may end between frames and nowhere else, and the fault says where it ended", () => {
  const frame = encodeFrame(ONE);
  const before = encodeFrame(TWO);
  for (let end = 0; end <= frame.length; end++) {
    const cut = frame.subarray(0, end);
    // The frame before comes whole, or byte by byte: what is left of it must not be counted.
    for (const chunks of [[before, cut], [...before, ...cut].map((byte) => Uint8Array.of(byte))]) {
      const decoder = new FrameDecoder();
      const messages = chunks.flatMap((chunk) => [...decoder.push(chunk)]);
      assertEquals(messages.length, end === frame.length ? 2 : 1);
      if (end === 0 || end === frame.length) {
        decoder.end();
        continue;
      }
      const error = assertThrows(() => decoder.end(), CapsuleError);
      assertEquals(error.code, "protocol.truncated", `end at ${end}`);
      const inside = end < 4 ? "length" : "payload";
      assertEquals(error.message, `Read a frame: the stream ended inside a ${inside}, at byte ${before.length + end}`);
    }
  }
});

Deno.test("FrameDecoder: after a fault it says the same again and gives no message", () => {
  for (const broken of [prefix(MAX_FRAME_BYTES + 1), concat(prefix(2), new TextEncoder().encode("[]"))]) {
    const decoder = new FrameDecoder();
    const error = assertThrows(() => [...decoder.push(broken)], CapsuleError);
    for (const again of [() => [...decoder.push(encodeFrame(ONE))], () => decoder.end()]) {
      assertEquals(assertThrows(again, CapsuleError), error);
    }
  }
});

Deno.test("FrameDecoder: a length that is declared and not sent costs no memory", () => {
  const before = Deno.memoryUsage().external;
  const decoders = Array.from({ length: 64 }, () => new FrameDecoder());
  for (const decoder of decoders) {
    assertEquals([...decoder.push(concat(prefix(MAX_FRAME_BYTES), Uint8Array.of(0x7b)))], []);
  }
  const grown = Deno.memoryUsage().external - before;
  assertEquals(grown < 64 * 1024 * 1024, true, `${grown} bytes for ${decoders.length} decoders`);
});

Deno.test("frames: as many values as are allowed, one more is refused by writer and reader before it is parsed", () => {
  const lists = (values: number) => ({ list: Array(values).fill(0) });
  // The object and its list are values too.
  const fits = lists(MAX_FRAME_VALUES - 2);
  assertEquals((decodeAll([encodeFrame(fits)])[0]?.["list"] as number[]).length, fits.list.length);
  assertEquals(codeOf(() => encodeFrame(lists(MAX_FRAME_VALUES - 1))), "protocol.frame_too_large");
  for (const text of [JSON.stringify(lists(MAX_FRAME_VALUES - 1)), `{"a":${"[".repeat(2 * MAX_FRAME_VALUES)}`]) {
    const payload = new TextEncoder().encode(text);
    const error = assertThrows(
      () => [...new FrameDecoder().push(concat(prefix(payload.length), payload))],
      CapsuleError,
    );
    assertEquals([error.code, error.message.includes("payload at byte 4")], ["protocol.frame_too_large", true]);
  }
});

Deno.test("frames: commas and brackets inside a text are no values, wherever its quotes and backslashes fall", () => {
  for (const unit of [",,,", "[[[", '",,,', "\\,,,", '\\",,,', '{"a":[]},', "é,\n"]) {
    const message = { text: unit.repeat(MAX_FRAME_VALUES), after: 1 };
    assertEquals(decodeAll([encodeFrame(message)]), [message]);
  }
});
