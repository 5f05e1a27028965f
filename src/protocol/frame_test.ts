import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import fc from "fast-check";
import { CapsuleError } from "../base/mod.ts";
import { encodeFrame, FrameDecoder, MAX_FRAME_BYTES } from "./mod.ts";

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

Deno.test("FrameDecoder: a stream may end between frames and nowhere else", () => {
  const frame = encodeFrame(ONE);
  for (let end = 0; end <= frame.length; end++) {
    const decoder = new FrameDecoder();
    const messages = [...decoder.push(frame.subarray(0, end))];
    if (end === 0 || end === frame.length) decoder.end();
    else assertEquals(codeOf(() => decoder.end()), "protocol.truncated", `end at ${end}`);
    assertEquals(messages.length, end === frame.length ? 1 : 0);
  }
});
