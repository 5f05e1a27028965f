import { assertEquals } from "@std/assert";
import type { TaskNews, TaskView } from "../../door/client/mod.ts";
import { tell } from "./ask_door.ts";
import { captureContext } from "../context_fixture.ts";

const OPTIONS = { streams: true, asJson: false } as const;

function stateOf(state: TaskView["state"], reason?: string): TaskNews {
  return {
    kind: "state",
    task: { task_id: "tsk_1", context_id: "ctx_1", state, ...(reason === undefined ? {} : { reason }) },
  };
}

async function* newsOf(...news: TaskNews[]): AsyncGenerator<TaskNews> {
  yield* news;
}

Deno.test("tell: a stream that ends before its task is no success, and says how to go on; one that ends with it is", async () => {
  const cut = captureContext();
  const heard = newsOf(stateOf("working"), {
    kind: "output",
    artifact: "answer",
    append: true,
    text: "half an ans",
    isWhole: false,
  });
  assertEquals(await tell(heard, cut.context, OPTIONS), 4);
  assertEquals(cut.stdout(), "half an ans");
  assertEquals(
    cut.stderr(),
    "boll: tsk_1 is working, but nothing more is heard of it; `boll watch DOOR tsk_1` asks again\n",
  );
  const whole = captureContext();
  const all = newsOf(
    { kind: "output", artifact: "answer", append: false, text: "the answer", isWhole: true },
    stateOf("completed"),
  );
  assertEquals(await tell(all, whole.context, OPTIONS), 0);
  assertEquals([whole.stdout(), whole.stderr()], ["the answer", ""]);
});

Deno.test("tell: on a terminal what boll says begins a line, in a pipe the answer is exact", async () => {
  for (const isTerminal of [true, false]) {
    const { context, stdout, stderr } = captureContext({ isTerminal });
    const news = newsOf(
      { kind: "output", artifact: "answer", append: false, text: "an answer", isWhole: true },
      stateOf("failed", "no more"),
    );
    assertEquals(await tell(news, context, OPTIONS), 1);
    assertEquals(stdout(), isTerminal ? "an answer\n" : "an answer");
    assertEquals(stderr(), "boll: tsk_1 failed: no more\n");
  }
});
