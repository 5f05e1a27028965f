import { assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import type { AgentMsg } from "../../protocol/control/mod.ts";
import { MAX_REQUESTS, ToolRequests } from "./tool_requests.ts";

function requestsThatSend(): { readonly requests: ToolRequests; readonly sent: AgentMsg[] } {
  const sent: AgentMsg[] = [];
  return { requests: new ToolRequests({ send: (message) => Promise.resolve(void sent.push(message)) }), sent };
}

Deno.test("ToolRequests: each answer reaches who asked, in any order; a second, late or strange one nobody", async () => {
  const { requests, sent } = requestsThatSend();
  const [first, second] = [requests.ask("a", { x: 1 }), requests.ask("b", null, "ctx/1/k")];
  assertEquals(sent, [
    { type: "tool_request", id: 1, name: "a", args: { x: 1 } },
    { type: "tool_request", id: 2, name: "b", args: null, idempotency_key: "ctx/1/k" },
  ]);
  const answer = (id: number, result: unknown, is_error: boolean) =>
    requests.settle({ type: "tool_result", id, result, is_error });
  assertEquals([answer(2, "two", true), answer(1, "one", false)], [true, true]);
  assertEquals([answer(1, "late", false), answer(3, "strange", false), answer(-1, "", false)], [false, false, false]);
  assertEquals(await first, { result: "one", is_error: false });
  assertEquals(await second, { result: "two", is_error: true });
});

Deno.test("ToolRequests: no more wait than may; an answer makes room", async () => {
  const { requests, sent } = requestsThatSend();
  for (let i = 0; i < MAX_REQUESTS; i++) requests.ask("a", i);
  assertEquals((await requests.ask("a", "more")).is_error, true);
  assertEquals(sent.length, MAX_REQUESTS);
  requests.settle({ type: "tool_result", id: 1, result: null, is_error: false });
  requests.ask("a", "again");
  assertEquals(sent.length, MAX_REQUESTS + 1);
});

Deno.test("ToolRequests: a budget has its number among them, and its own kind of answer", async () => {
  const { requests, sent } = requestsThatSend();
  const [tool, budget] = [requests.ask("a", {}), requests.askBudget(100)];
  assertEquals(sent[1], { type: "budget_request", id: 2, estimate: 100 });
  const grant = (id: number) => requests.settle({ type: "budget_grant", id, ok: false, wait_ms: 0, reason: "spent" });
  const error = assertThrows(() => grant(1), CapsuleError);
  assertEquals([error.code, grant(2), grant(2)], ["protocol.unexpected", true, false]);
  assertEquals(await budget, { ok: false, wait_ms: 0, reason: "spent" });
  tool.catch(() => {});
});
