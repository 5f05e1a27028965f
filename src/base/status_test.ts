import { assertEquals } from "@std/assert";
import { endedWell, exitCodeOf, isTerminal, SESSION_STATUSES, type SessionStatus, STATUS_EXIT } from "./mod.ts";

Deno.test("STATUS_EXIT: every status has the exit status of the table, and only completed is 0", () => {
  assertEquals<Record<SessionStatus, number>>(STATUS_EXIT, {
    completed: 0,
    failed: 1,
    refused: 5,
    exhausted_steps: 7,
    exhausted_tokens: 7,
    deadline: 124,
    stalled: 3,
    loop_detected: 3,
    cancelled: 130,
    crashed: 1,
  });
  assertEquals(SESSION_STATUSES.filter(endedWell), ["completed"]);
  assertEquals(SESSION_STATUSES.filter((status) => STATUS_EXIT[status] === 0), ["completed"]);
});

Deno.test("exitCodeOf: a failed session that met a limit ends as that, every other one as its status", () => {
  for (const limit of ["memory", "cpu", "output"] as const) {
    assertEquals([exitCodeOf("failed", limit), exitCodeOf("completed", limit)], [8, 0]);
  }
  for (const status of SESSION_STATUSES) assertEquals(exitCodeOf(status, "crashed"), STATUS_EXIT[status]);
});

Deno.test("isTerminal: a warm session goes on after a turn unless nothing is left to go on with", () => {
  assertEquals(SESSION_STATUSES.filter(isTerminal), ["exhausted_tokens", "cancelled", "crashed"]);
});
