import { assertEquals } from "@std/assert";
import { captureContext } from "../context_fixture.ts";
import { Progress } from "./progress.ts";

function shownAt(times: readonly number[], isTerminal: boolean): string {
  const { context, stderr } = captureContext({ isTerminal });
  let now = 0;
  {
    using progress = new Progress(context.stderr, "removing", () => now);
    for (now of times) progress.show(`at ${now}`);
  }
  return stderr();
}

Deno.test("Progress: a terminal alone is told, after a second, not too often, and left clean", () => {
  const line = (ms: number) => `\r\x1b[Kboll: removing: at ${ms}`;
  assertEquals(shownAt([0, 999, 1000, 1099, 1100], true), `${line(1000)}${line(1100)}\r\x1b[K`);
  assertEquals(shownAt([0, 999], true), "");
  assertEquals(shownAt([0, 1000, 5000], false), "");
});
