import { assertEquals } from "@std/assert";
import { readTarFile } from "./npm_package.ts";

function tarEntry(name: string, text: string): Uint8Array {
  const entry = new Uint8Array(512 + Math.ceil(text.length / 512) * 512);
  const put = (at: number, value: string) => entry.set(new TextEncoder().encode(value), at);
  put(0, name);
  put(124, text.length.toString(8).padStart(11, "0") + "\0");
  put(512, text);
  return entry;
}

Deno.test("readTarFile finds a file behind others, an empty one too, and nothing by part of its name", () => {
  const files = { "package/a": "x".repeat(513), "package/empty": "", "package/b.wasm": "y".repeat(512) };
  const parts = Object.entries(files).flatMap(([name, text]) => [...tarEntry(name, text)]);
  const tar = new Uint8Array([...parts, ...new Uint8Array(1024)]);
  for (const [name, text] of Object.entries(files)) {
    assertEquals(new TextDecoder().decode(readTarFile(tar, name)), text);
  }
  assertEquals(readTarFile(tar, "package/b"), undefined);
  assertEquals(readTarFile(new Uint8Array(), "package/a"), undefined);
});
