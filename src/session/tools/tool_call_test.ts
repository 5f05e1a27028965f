import { assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import { encodeToolText, type ToCell } from "../../protocol/mod.ts";
import { CallClock } from "./call_clock.ts";
import { ToolCall } from "./tool_call.ts";

const done = (value: unknown) => ({ type: "done", id: 1, value }) as const;
const answer = (text: string) => ({ ok: true, text: encodeToolText(text) });

function started(input: Partial<ToolCall["input"]> = {}): { call: ToolCall; sent: ToCell[] } {
  const call = new ToolCall({ tool: "t", input: "e30=", deadlineMs: 1_000, mayRunTwice: true, ...input });
  const sent: ToCell[] = [];
  call.start(1, (message) => sent.push(message));
  return { call, sent };
}

Deno.test("ToolCall: the first end counts, whoever says it; a deadline is told before the cell has let go", async () => {
  const { call, sent } = started();
  assertEquals(sent, [{ type: "call", id: 1, tool: "t", input: "e30=" }]);
  call.receive(done(answer("a")));
  call.receive(done(answer("b")));
  call.finish({ failed: "deadline", detail: "late" });
  assertEquals([await call.end, call.isOver, call.signal.aborted], [{ value: { ok: true, text: "a" } }, true, true]);
  const late = started().call;
  late.settle({ failed: "deadline", detail: "late" });
  assertEquals([await late.end, late.isOver], [{ failure: { failed: "deadline", detail: "late" } }, false]);
  late.receive({ ...done(null), error: { kind: "cancelled", detail: "given up" } });
  assertEquals([await late.end, late.isOver], [{ failure: { failed: "deadline", detail: "late" } }, true]);
});

Deno.test("ToolCall: an answer that is none is its cell's fault", () => {
  for (const value of [null, "x", { ok: true }, { ok: true, text: "?" }, { ok: 1, text: "" }]) {
    const { call } = started();
    assertEquals(assertThrows(() => call.receive(done(value)), CapsuleError).code, "protocol.bad_field");
    assertEquals(call.isOver, false);
  }
});

Deno.test("ToolCall: it runs once more when it may, once, and not when something of it is out already", async () => {
  const { call } = started();
  assertEquals(call.isRerunnable, true);
  call.start(2, () => {});
  assertEquals(call.isRerunnable, false);
  assertEquals(started({ mayRunTwice: false }).call.isRerunnable, false);
  const asking = started().call;
  await asking.hold(Promise.resolve());
  assertEquals(asking.isRerunnable, false);
  const given = started().call;
  given.settle({ failed: "cancelled", detail: "" });
  assertEquals(given.isRerunnable, false);
});

Deno.test("ToolCall: of its words so many are heard", () => {
  const { call } = started();
  assertEquals(Array.from({ length: 1_500 }, () => call.isHeard).filter(Boolean).length, 1_000);
});

Deno.test("ToolCall: its time passes on its own turn and on nobody's, and not while it waits for another", async () => {
  const over: string[] = [];
  const call = (name: string) => {
    const { call } = started();
    call.clock = new CallClock(1, () => over.push(name));
    return call;
  };
  const [none, own, other, waits, loops] = ["none", "own", "other", "waits", "loops"].map(call);
  none!.takeTurn("none");
  own!.takeTurn("own");
  other!.takeTurn("other");
  const child = Promise.withResolvers<void>();
  const held = [waits!, loops!].map((one) => one.hold(child.promise));
  loops!.takeTurn("own");
  await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals(over.sort(), ["loops", "none", "own"]);
  other!.takeTurn("none");
  child.resolve();
  await Promise.all(held);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals(over.sort(), ["loops", "none", "other", "own", "waits"]);
});
