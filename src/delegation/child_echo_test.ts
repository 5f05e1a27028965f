import { assertEquals } from "@std/assert";
import { ChildEcho } from "./child_echo.ts";

Deno.test("ChildEcho: warnings, errors and what is no line of a log, each with its delegation; nothing else", () => {
  const said: string[] = [];
  const echo = new ChildEcho("dlg_1", (line) => said.push(line));
  const lines = [
    `{"level":"info","msg":"Session started"}`,
    `{"level":"debug","msg":"a library printed"}`,
    `{"level":"warn","msg":"the disk is full","agent_id":"worker"}`,
    `{"level":"error","msg":7}`,
    "# Fatal error in V8",
    `"text"`,
  ];
  for (const line of lines) echo.line(line);
  assertEquals(said, [
    "dlg_1: the disk is full",
    `dlg_1: {"level":"error","msg":7}`,
    "dlg_1: # Fatal error in V8",
    `dlg_1: "text"`,
  ]);
});

Deno.test("ChildEcho: twenty lines of a flood, and that there were more", () => {
  const said: string[] = [];
  const echo = new ChildEcho("dlg_1", (line) => said.push(line));
  for (let at = 1; at <= 1_000; at++) echo.line(`line ${at}`);
  assertEquals([said.length, said.at(-2), said.at(-1)], [
    21,
    "dlg_1: line 20",
    "dlg_1: no more of what it says is shown here",
  ]);
});
