import { assertEquals } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import type { CellUsage } from "../protocol/mod.ts";
import { type CellFacts, classifyEnding, failureOutcome, isStartInterrupted } from "./outcome.ts";

const EXITED = { code: 0, signal: null };
const CALM: CellUsage = {
  memory_percent: 89,
  bytes_written: 0,
  output_bytes: 0,
  stdout_closed: false,
};
const FULL = { ...CALM, memory_percent: 90 };
const CLOSED = { ...CALM, stdout_closed: true };
const trap = { kind: "trap", trap: "unreachable", detail: "RuntimeError: unreachable" } as const;
const fault = new CapsuleError("protocol.bad_field", "Read a message: message.code is not 0 to 255");

const MATRIX: [string, CellFacts, string, number, string][] = [
  ["guest ends well", { exit: EXITED, ended: { kind: "exit", code: 0 }, usage: CALM }, "completed", 0, "guest"],
  ["guest's own code", { exit: EXITED, ended: { kind: "exit", code: 3 }, usage: CALM }, "failed", 3, "guest"],
  ["well in full memory", { exit: EXITED, ended: { kind: "exit", code: 0 }, usage: FULL }, "completed", 0, "guest"],
  ["badly in full memory", { exit: EXITED, ended: { kind: "exit", code: 1 }, usage: FULL }, "failed", 8, "memory"],
  ["trap in full memory", { exit: EXITED, ended: trap, usage: FULL }, "failed", 8, "memory"],
  ["trap", { exit: EXITED, ended: trap, usage: CALM }, "failed", 1, "trap"],
  ["trap without usage", { exit: EXITED, ended: trap }, "failed", 1, "trap"],
  ["output limit", { exit: EXITED, ended: { kind: "limit", limit: "output" }, usage: CALM }, "failed", 8, "output"],
  ["closed stdout, well", { exit: EXITED, ended: { kind: "exit", code: 0 }, usage: CLOSED }, "completed", 0, "guest"],
  [
    "closed stdout, badly",
    { exit: EXITED, ended: { kind: "exit", code: 1 }, usage: CLOSED },
    "failed",
    141,
    "stdout_closed",
  ],
  ["deadline", { stopped: "deadline", exit: { code: 137, signal: "SIGKILL" } }, "deadline", 124, "deadline"],
  ["deadline beats the last word", { stopped: "deadline", exit: EXITED, ended: trap }, "deadline", 124, "deadline"],
  ["interrupted", { stopped: "interrupted", exit: { code: 137, signal: "SIGKILL" } }, "cancelled", 130, "interrupted"],
  ["Ctrl-C took the cell first", { exit: { code: 130, signal: "SIGINT" } }, "cancelled", 130, "interrupted"],
  ["CPU", { exit: { code: 152, signal: "SIGXCPU" } }, "failed", 8, "cpu"],
  ["abort at the barrier", { exit: { code: 133, signal: "SIGTRAP" } }, "failed", 8, "memory"],
  ["killed by another", { exit: { code: 137, signal: "SIGKILL" } }, "crashed", 1, "crashed"],
  ["crash", { exit: { code: 139, signal: "SIGSEGV" } }, "crashed", 1, "crashed"],
  ["exit without a word", { exit: { code: 7, signal: null } }, "crashed", 1, "crashed"],
  ["protocol fault", { fault, exit: EXITED, ended: { kind: "exit", code: 0 } }, "crashed", 1, "crashed"],
];

Deno.test("isStartInterrupted: a cell that a user's signal ended before its first word, and no other start that failed", () => {
  const failed = (cause?: unknown) => new CapsuleError("cell.start_failed", "Start a cell: it ended", { cause });
  assertEquals(isStartInterrupted(failed({ code: 130, signal: "SIGINT" })), true);
  assertEquals(isStartInterrupted(failed({ code: 129, signal: "SIGHUP" })), true);
  for (const cause of [undefined, null, "SIGINT", { code: 130, signal: null }, { code: 137, signal: "SIGKILL" }]) {
    assertEquals(isStartInterrupted(failed(cause)), false);
  }
  assertEquals(isStartInterrupted({ cause: { signal: "SIGINT" } }), false);
});

Deno.test("failureOutcome: refused, a model or a tool that failed before there was a turn, and what broke of ours", () => {
  const of = (error: unknown) => {
    const { status, exit_code, ended_by } = failureOutcome(error);
    return [status, exit_code, ended_by];
  };
  assertEquals(of(new CapsuleError("model.rejected", "Read the playbook: found none")), ["failed", 1, "guest"]);
  assertEquals(of(new CapsuleError("model.unreachable", "Reach the model")), ["failed", 4, "guest"]);
  assertEquals(of(new CapsuleError("tool.describe_failed", "Describe tool x: trap")), ["failed", 1, "guest"]);
  assertEquals(of(new CapsuleError("grant.floor_unmet", "Run it")), ["refused", 5, "refused"]);
  assertEquals(of(new CapsuleError("component.cache_mismatch", "Load it")), ["crashed", 1, "crashed"]);
  assertEquals(of(new TypeError("a bug")), ["crashed", 1, "crashed"]);
});

for (const [name, facts, status, exitCode, endedBy] of MATRIX) {
  Deno.test(`classifyEnding: ${name}`, () => {
    const outcome = classifyEnding(facts);
    assertEquals([outcome.status, outcome.exit_code, outcome.ended_by], [status, exitCode, endedBy]);
  });
}
