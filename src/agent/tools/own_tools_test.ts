import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import type { DelegateCall } from "../../protocol/mod.ts";
import { findArgumentFault } from "../loop/tool_round.ts";
import { delegateTool, requestInputTool, skillTool } from "./own_tools.ts";
import { TurnChildren } from "../turn/turn_children.ts";

const signal = new AbortController().signal;
const ids = [1, 2].map((n) => `dlg_${String(n).padStart(32, "0")}`);

function delegations() {
  const calls: DelegateCall[] = [];
  const ends = new Map(ids.map((id) => [id, Promise.withResolvers<string>()]));
  return {
    calls,
    ends,
    start(call: DelegateCall) {
      calls.push(call);
      if (call.capsule === "other") {
        return Promise.resolve({ kind: "refused" as const, message: "Delegate: not granted" });
      }
      return Promise.resolve({
        delegation_id: ids[calls.length - 1]!,
        session_id: "",
        capsule: "",
        version: "",
        deadline_ms: 1,
      });
    },
    ended: (id: string) => ends.get(id)!.promise,
  };
}

Deno.test("delegateTool: what was started is read once, when all of it has ended, in its order", async () => {
  const port = delegations();
  const children = new TurnChildren(port);
  const tool = delegateTool(children, ["worker"]);
  assertEquals(children.isOpen, false);
  for (const task of ["a", "b"]) {
    const reply = await tool.run({ capsule: "worker", task }, signal);
    assertEquals([reply.isError, reply.isForeign], [false, false]);
    assertStringIncludes(reply.content, "[delegate-task] started dlg_");
  }
  assert(children.isOpen);
  const outcomes = children.outcomes();
  port.ends.get(ids[1]!)!.resolve("second");
  port.ends.get(ids[0]!)!.resolve("first");
  assertEquals([await outcomes, children.isOpen], ["first\n\nsecond", false]);
  assertEquals(port.calls[0], { capsule: "worker", task: "a", mounts: [] });
});

Deno.test("delegateTool: a refusal is an answer in the runtime's words, and so is an end that nobody knows", async () => {
  const port = delegations();
  const children = new TurnChildren(port);
  const tool = delegateTool(children, ["worker"]);
  const refused = await tool.run({ capsule: "other", task: "a" }, signal);
  assertEquals(refused, { content: "[delegate-task] refused: Delegate: not granted", isError: true, isForeign: false });
  assertEquals((await tool.run({ capsule: "", task: "a" }, signal)).isError, true);
  assertEquals(children.isOpen, false);
  await tool.run({ capsule: "worker", task: "a" }, signal);
  port.ends.get(ids[1]!)!.reject(new CapsuleError("protocol.unexpected", "lost"));
  assertEquals(await children.outcomes(), `[delegate-task] delegation ${ids[1]}: how it ended is not known`);
  for (const args of [{}, { capsule: "worker" }, { capsule: 1, task: "a" }, { capsule: "w", task: "a", more: 1 }]) {
    assert(findArgumentFault(tool, args) !== undefined, JSON.stringify(args));
  }
});

Deno.test("requestInputTool: an answer is fenced unless it is the operator's; none is a refusal", async () => {
  const answers = [{ text: "yes", isForeign: false }, { text: "yes", isForeign: true }, {
    refused: "nobody is there to ask",
  }];
  const tool = requestInputTool(() => Promise.resolve(answers.shift()!));
  const run = () => tool.run({ question: "well?" }, signal);
  assertEquals(await run(), { content: "yes", isError: false, isForeign: false });
  assertEquals(await run(), { content: "yes", isError: false, isForeign: true });
  assertEquals(await run(), { content: "[request-input] nobody is there to ask", isError: true, isForeign: false });
  assert(findArgumentFault(tool, { question: "" }) !== undefined);
});

Deno.test("skillTool: gives a skill by its name, and no other", async () => {
  const tool = skillTool([{ name: "style", description: "How\nto write", text: "Short." }]);
  assertEquals(await tool.run({ name: "style" }, signal), { content: "Short.", isError: false, isForeign: false });
  assertStringIncludes(JSON.stringify(tool.def.input_schema), "style: How to write");
  assert(findArgumentFault(tool, { name: "other" }) !== undefined);
  await assertRejects(async () => await tool.run({ name: "other" }, signal), CapsuleError);
});
