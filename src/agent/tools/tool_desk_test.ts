import { assertEquals } from "@std/assert";
import { askedTool, type DeskTool, ToolDesk } from "./tool_desk.ts";

const signal = new AbortController().signal;
const tool = (name: string, content = name): DeskTool => ({
  def: { name, input_schema: true },
  mutates: false,
  run: () => Promise.resolve({ content, isError: false, isForeign: false }),
});

Deno.test("ToolDesk: what is not granted is neither shown nor called; of two tools of a name the first counts", async () => {
  const desk = new ToolDesk(["read*"], [tool("read-file", "first"), tool("read-file", "second"), tool("write-file")]);
  assertEquals(desk.offered.map(({ def }) => def.name), ["read-file"]);
  const call = (name: string) => desk.call({ id: "c", name, arguments: {} }, signal);
  assertEquals((await call("read-file")).content, "first");
  for (const name of ["write-file", "nothing", "constructor", "__proto__"]) {
    assertEquals(await call(name), { content: `Call ${name}: there is no such tool`, isError: true, isForeign: false });
  }
  assertEquals(new ToolDesk([], [tool("read-file")]).offered, []);
  assertEquals(new ToolDesk(undefined, [tool("a"), tool("b")]).offered.length, 2);
});

Deno.test("ToolDesk: what it shows can be posted to a thread", () => {
  assertEquals(structuredClone(new ToolDesk(undefined, [tool("a")]).offered), [
    { def: { name: "a", input_schema: true }, mutates: false },
  ]);
});

Deno.test("askedTool: what comes from above is foreign, text as it is and anything else as JSON", async () => {
  const answers = [{ result: "text", is_error: false }, { result: { a: [1] }, is_error: true }, {
    result: null,
    is_error: false,
  }];
  const asked = askedTool({ name: "a", input_schema: true }, true, () => Promise.resolve(answers.shift()!));
  const run = () => asked.run({}, signal);
  assertEquals([await run(), await run(), await run()], [
    { content: "text", isError: false, isForeign: true },
    { content: '{"a":[1]}', isError: true, isForeign: true },
    { content: "null", isError: false, isForeign: true },
  ]);
});
