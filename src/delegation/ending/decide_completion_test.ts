import { assert, assertEquals } from "@std/assert";
import { SESSION_STATUSES } from "../../base/mod.ts";
import type { Completion } from "../../records/mod.ts";
import { decideCompletion, ENDED_BY_PARENT, type EndingSources, type Launched } from "./decide_completion.ts";

const LAUNCHED: Launched = {
  delegation_id: "dlg_1",
  session_id: "ses_2",
  capsule_name: "worker",
  capsule_version: "0.1.0",
  workdir: "/w",
};
const RECORD: Completion = {
  ...LAUNCHED,
  status: "ok",
  result_path: "/r/out/result.txt",
  duration_ms: 7,
  reported_by: "child",
  delivered: true,
};
const ending = (fields: Partial<EndingSources["ending"]>): EndingSources["ending"] => ({
  status: "completed",
  ended_by: "guest",
  tail: "",
  duration_ms: 42,
  ...fields,
});
const KILLED = ending({
  status: "crashed",
  ended_by: "crashed",
  detail: "the session was ended by SIGKILL without a result",
  tail: "one\ntwo\n",
});

Deno.test("decideCompletion: the launcher's reason, then the record of these ids, then the last frame, then crashed", () => {
  const stopped = ending({ status: "cancelled", ended_by: "terminated", detail: ENDED_BY_PARENT });
  const decide = (sources: EndingSources) => {
    const { status, detail, reported_by, delivered, duration_ms } = decideCompletion(LAUNCHED, sources);
    return [status, reported_by, delivered, duration_ms, detail];
  };
  const terminated = ["terminated", "launcher", false, 42];
  assertEquals(decide({ ending: stopped, record: RECORD }), [...terminated, ENDED_BY_PARENT]);
  assertEquals(decide({ ending: KILLED, record: RECORD }), ["ok", "child", true, 7, undefined]);
  const failed = ending({ status: "failed", detail: "model.unreachable: no" });
  assertEquals(decide({ ending: failed, record: RECORD }), ["ok", "child", true, 7, undefined]);
  assertEquals(decide({ ending: failed }), ["error", "launcher", false, 42, undefined]);
  assertEquals(decide({ ending: ending({}) }), ["ok", "launcher", false, 42, undefined]);
  assertEquals(decide({ ending: KILLED }), ["crashed", "launcher", false, 42, `${KILLED.detail}\none\ntwo`]);
});

Deno.test("decideCompletion: each verdict of a supervisor is in the detail; the deadline is said in full", () => {
  for (const ended_by of ["terminated", "interrupted", "stuck", "not_ready", "protocol_broken"] as const) {
    const { status, detail } = decideCompletion(LAUNCHED, {
      ending: ending({ status: "failed", ended_by, detail: "why" }),
      record: RECORD,
    });
    assertEquals([status, detail], ["terminated", "why"]);
  }
  const overdue = ending({ status: "deadline", ended_by: "deadline", detail: "the deadline passed" });
  assertEquals(decideCompletion(LAUNCHED, { ending: overdue }).detail, "ended at the delegation deadline");
  for (const ended_by of ["cpu", "memory"] as const) {
    const { status } = decideCompletion(LAUNCHED, {
      ending: ending({ status: "failed", ended_by, detail: "used up" }),
    });
    assertEquals(status, "crashed");
  }
});

Deno.test("decideCompletion: `completed` is ok, every other status that a child says is error", () => {
  for (const status of SESSION_STATUSES) {
    const ended_by = status === "deadline" || status === "refused" ? status : "guest";
    const decided = decideCompletion(LAUNCHED, { ending: ending({ status, ended_by }) }).status;
    assertEquals(decided, status === "completed" ? "ok" : "error");
  }
});

Deno.test("decideCompletion: a record of other ids or in the launcher's name is none; who it was is never the child's word", () => {
  const forged: Completion[] = [
    { ...RECORD, delegation_id: "dlg_9" },
    { ...RECORD, session_id: "ses_9" },
    { ...RECORD, reported_by: "launcher" },
  ];
  for (const record of forged) assertEquals(decideCompletion(LAUNCHED, { ending: KILLED, record }).status, "crashed");
  const renamed = { ...RECORD, capsule_name: "root", capsule_version: "9", workdir: "/etc" };
  assertEquals(decideCompletion(LAUNCHED, { ending: KILLED, record: renamed }), RECORD);
});

Deno.test("decideCompletion: a crash keeps how it went and the end of its last 20 lines, in 2000 bytes", () => {
  const lines = Array.from({ length: 30 }, (_, n) => `line ${n}`);
  const detailOf = (tail: string) => decideCompletion(LAUNCHED, { ending: { ...KILLED, tail } }).detail!;
  assertEquals(detailOf(lines.join("\n") + "\n"), `${KILLED.detail}\n${lines.slice(10).join("\n")}`);
  const long = detailOf(`${"é".repeat(3_000)}the end`);
  assert(
    new TextEncoder().encode(long).length <= 2_000 && long.startsWith(KILLED.detail!) && long.endsWith("éthe end"),
  );
  assert(!long.includes("\ufffd"));
  assertEquals(detailOf(" \n\n"), KILLED.detail);
});
