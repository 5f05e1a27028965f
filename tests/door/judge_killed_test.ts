import { assertEquals } from "@std/assert";
import { judgeKilled, type KilledDoor, type KilledTask } from "./judge_killed.ts";

function task(name: string, state: string, words = ""): KilledTask {
  return {
    id: `tsk_${name}`,
    status: { state: `TASK_STATE_${state}`, message: { parts: [{ text: words }] } },
    history: [{ parts: [{ text: `appendFile("/workdir/${name}", "x")` }] }],
  };
}

const RUNS = { "0-1": 1, "0-2": 1, "0-3": 0 };
const GOOD: KilledDoor = {
  tasks: [
    task("0-1", "COMPLETED"),
    task("0-2", "FAILED", "interrupted: it ended"),
    task("0-3", "FAILED", "interrupted"),
    task("0-5", "CANCELED"),
  ],
  accepted: [{ name: "0-1", id: "tsk_0-1" }, { name: "0-2", id: "tsk_0-2" }, { name: "0-5", id: "tsk_0-5" }],
  unanswered: ["0-3", "0-4"],
  kills: 2,
  cancelled: new Set(["tsk_0-5"]),
  runsOf: (name) => RUNS[name as keyof typeof RUNS] ?? 0,
  ends: new Map([["tsk_0-1", ["TASK_STATE_COMPLETED"]]]),
};

Deno.test("judgeKilled: what was accepted is there once, has ended, and was run once; everything else is named", () => {
  const { wrong, ...counts } = judgeKilled(GOOD);
  assertEquals(wrong, []);
  assertEquals([counts.lost, counts.ranTwice, counts.interrupted, counts.interruptedThatRan, counts.canceled], [
    0,
    0,
    2,
    1,
    1,
  ]);
  const [done, cut, other, stopped] = GOOD.tasks as [KilledTask, KilledTask, KilledTask, KilledTask];
  const bad: [Partial<KilledDoor>, string][] = [
    [{ tasks: [done, other, stopped] }, "1 accepted tasks are not there"],
    [
      { tasks: [{ ...done, id: cut.id }, { ...cut, id: done.id }, other, stopped], ends: new Map() },
      "2 tasks have another message",
    ],
    [{ accepted: [...GOOD.accepted, GOOD.accepted[0]!] }, "an id was given twice"],
    [{ tasks: [...GOOD.tasks, { ...done, id: "tsk_more" }] }, "a message became two tasks"],
    [{ runsOf: () => 2 }, "a message ran twice"],
    [{ runsOf: () => 0 }, "a task is completed and was never run"],
    [{ tasks: [done, cut, task("0-3", "SUBMITTED"), stopped] }, "1 tasks have not ended"],
    [
      { tasks: [done, task("0-2", "FAILED", "a failure of the session's own"), other, stopped] },
      "1 tasks have not ended",
    ],
    [{ cancelled: new Set() }, "1 tasks have not ended"],
    [{ kills: 1 }, "2 tasks were interrupted by 1 kills"],
    [{ unanswered: [] }, "a task has a message that nobody sent"],
    [{ ends: new Map([["tsk_0-1", ["", "TASK_STATE_COMPLETED"]]]) }, "1 readers heard another end"],
  ];
  for (const [change, words] of bad) {
    const found = judgeKilled({ ...GOOD, ...change }).wrong;
    assertEquals([found.length, found[0]?.startsWith(words)], [1, true], `${words}: ${found}`);
  }
});
