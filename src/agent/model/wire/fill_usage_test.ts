import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { FILLED, fillUsage } from "./fill_usage.ts";

/** What comes out when the text goes in cut at every `step` bytes. */
async function fill(text: string, step = Infinity): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (let from = 0; from < bytes.length; from += Math.min(step, bytes.length)) {
    chunks.push(bytes.slice(from, Math.min(bytes.length, from + step)));
  }
  return await new Response(ReadableStream.from(chunks).pipeThrough(fillUsage())).text();
}

function line(event: unknown): string {
  return `data: ${JSON.stringify(event)}`;
}

Deno.test("fillUsage puts a usage where one should be, whichever way the bytes are cut", async () => {
  const text = [
    ...["event: message_start", line({ type: "message_start", message: { id: "é🌍" } }), ""],
    ...[line({ type: "message_start", message: { usage: { input_tokens: 0 } } }), line({ type: "ping" }), "\r"],
    line({ type: "message_delta", delta: {}, usage: { output_tokens: null, cache_read_input_tokens: 3 } }),
    line({ type: "message_delta", delta: {} }),
  ].join("\n");
  const filled = [
    ...[
      "event: message_start",
      line({ type: "message_start", message: { id: "é🌍", usage: { input_tokens: 0, [FILLED]: true } } }),
    ],
    ...["", line({ type: "message_start", message: { usage: { input_tokens: 0 } } }), line({ type: "ping" }), "\r"],
    line({ type: "message_delta", delta: {}, usage: { output_tokens: 0, cache_read_input_tokens: 3, [FILLED]: true } }),
    line({ type: "message_delta", delta: {}, usage: { output_tokens: 0, [FILLED]: true } }),
  ].join("\n");
  for (const step of [1, 2, 3, 7, 64, Infinity]) assertEquals(await fill(text, step), filled);
});

Deno.test("fillUsage leaves everything else as it is, however broken", async () => {
  const texts = [
    ...[
      "",
      "\n",
      "\r\n\r\n",
      "data:",
      'data: {"type":"message_start"',
      'data: "message_start"',
      'data: ["message_delta"]',
    ],
    ...[line({ type: "message_start" }), line({ type: "message_start", message: 1 }), line(["message_start"])],
    ...[
      line({ type: "content_block_delta", delta: { text: '"message_start"' } }),
      line({ type: "constructor", a: "message_delta" }),
    ],
  ];
  for (const text of texts) assertEquals(await fill(text), text);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 9 }), async (text, step) => {
      const kept = new TextDecoder().decode(new TextEncoder().encode(text));
      assertEquals(await fill(text, step), kept);
    }),
    { numRuns: 50 },
  );
});
