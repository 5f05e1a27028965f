import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import type { StreamResponse } from "@a2a-js/sdk";
import { FileJoiner } from "./file_joiner.ts";

// Copied anew with each piece, that many would take minutes.
const PIECES = 150_000;

function pieceOf(text: string, lastChunk: boolean): StreamResponse {
  const value = Buffer.from(text);
  const part = { content: { $case: "raw", value } as const, metadata: undefined, filename: "f", mediaType: "" };
  const artifact = { artifactId: "a", name: "f", description: "", parts: [part], metadata: undefined, extensions: [] };
  const common = { taskId: "t", contextId: "c", metadata: undefined };
  return { payload: { $case: "artifactUpdate", value: { ...common, artifact, append: true, lastChunk } } };
}

Deno.test("FileJoiner: a file of any number of pieces comes whole, in their order, once", () => {
  const files = new FileJoiner();
  for (let at = 1; at < PIECES; at++) files.take(pieceOf(String(at % 10), false));
  const partsOf = ({ payload }: StreamResponse) =>
    payload?.$case === "artifactUpdate" ? payload.value.artifact!.parts : [];
  const parts = partsOf(files.take(pieceOf("!", true)));
  assertEquals(parts.length, PIECES);
  const said = parts.map(({ content }) => content?.$case === "raw" ? content.value.toString() : "").join("");
  assertEquals([said.slice(0, 12), said.at(-1)], ["123456789012", "!"]);
  assertEquals(partsOf(files.take(pieceOf("new", true))).length, 1);
});
