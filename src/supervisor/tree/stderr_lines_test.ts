import { assertEquals } from "@std/assert";
import { StderrLines } from "./stderr_lines.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("StderrLines: lines are whole wherever the chunks are cut, and the last needs no end", () => {
  const text = bytes("one\n\nzwölf\nlast");
  for (let at = 0; at <= text.length; at++) {
    const lines: string[] = [];
    const stderr = new StderrLines((line) => lines.push(line));
    stderr.push(text.subarray(0, at));
    stderr.push(text.subarray(at));
    stderr.end();
    assertEquals([lines, stderr.tail], [["one", "zwölf", "last"], "one\n\nzwölf\nlast"]);
  }
});

Deno.test("StderrLines: a line without end and a flood are bounded, and the tail begins with a whole character", () => {
  const lines: string[] = [];
  const stderr = new StderrLines((line) => lines.push(line));
  for (let i = 0; i < 1_000; i++) stderr.push(bytes("é".repeat(1_000)));
  stderr.push(bytes("\nlast words"));
  stderr.end();
  assertEquals([lines.map((line) => line.length), lines.at(-1)], [[4_096, 10], "last words"]);
  assertEquals(stderr.tail, `${"é".repeat(994)}\nlast words`);
});
