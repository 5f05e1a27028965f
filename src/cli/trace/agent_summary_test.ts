import { assertEquals } from "@std/assert";
import { agentSummary, contentLines } from "./agent_summary.ts";

const at = { ts: 1, session_id: "ses_1" };

Deno.test("agentSummary: each event of an agent in words, any other event is left to others", () => {
  const cases: [Record<string, unknown>, string | undefined][] = [
    [
      { event: "task_start", task_id: "tsk_1", origin: "peer", principal: "bob", is_rerun: true },
      "tsk_1 of peer (bob), once more",
    ],
    [
      {
        event: "inference",
        turn: 0,
        round: 1,
        model: "m-1",
        input_tokens: 5,
        output_tokens: 6,
        stop: "end",
        tool_calls: 0,
        duration_ms: 7,
      },
      "turn 1 round 2 m-1: 5 tokens in, 6 out, end, 7 ms",
    ],
    [
      {
        event: "inference",
        turn: 0,
        round: 0,
        input_tokens: 0,
        output_tokens: 0,
        usage_missing: true,
        stop: "tool_calls",
        tool_calls: 2,
        duration_ms: 7,
      },
      "turn 1 round 1: tokens not told, 2 calls, 7 ms",
    ],
    [{ event: "tool_call", tool: "read-file", is_error: false, duration_ms: 3 }, "read-file ok, 3 ms"],
    [
      { event: "tool_call", tool: "read-file", is_error: true, failure: "trap", duration_ms: 3 },
      "read-file failed (trap), 3 ms",
    ],
    [{ event: "task_end", state: "completed", status: "completed", duration_ms: 9 }, "completed, 9 ms"],
    [
      { event: "task_end", state: "failed", status: "deadline", reason: "late", duration_ms: 9 },
      "failed (deadline), 9 ms: late",
    ],
    [{ event: "connection", host: "x" }, undefined],
    [{ event: "toString" }, undefined],
  ];
  for (const [event, summary] of cases) assertEquals(agentSummary({ ...at, ...event } as never), summary);
});

Deno.test("agentSummary: what is missing, of another type or an escape is shown harmlessly", () => {
  assertEquals(
    agentSummary({ ...at, event: "inference", turn: "\x1b[2J", round: null, tool_calls: "9" } as never),
    "turn \\u{1b}[2J round null: ? tokens in, ? out, ?, ? ms",
  );
  assertEquals(agentSummary({ ...at, event: "tool_call", tool: "\x1b]0;x\x07" } as never)?.includes("\x1b"), false);
});

Deno.test("contentLines: what was said is shown where the trace has it", () => {
  assertEquals(contentLines({ ...at, event: "inference", text: "hi\nyou" }), ["text: hi\\u{a}you"]);
  assertEquals(contentLines({ ...at, event: "tool_call", arguments: { a: 1 }, content: "c" }), [
    'arguments: {"a":1}',
    "content: c",
  ]);
  assertEquals(contentLines({ ...at, event: "tool_call" }), []);
});
