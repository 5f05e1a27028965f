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

Deno.test("tell: after a gap each file is there once, those from before it and those that were missed", async () => {
  const { context, stdout } = captureContext();
  const files = ["before", "missed"].map((name) => ({ name, media_type: "text/plain", bytes: new Uint8Array(1) }));
  const { task } = stateOf("completed") as Extract<TaskNews, { kind: "state" }>;
  const news = newsOf(
    stateOf("working"),
    { kind: "file", file: files[0]! },
    { kind: "task", task: { ...task, files }, texts: new Map(), hasGap: true },
  );
  const folder = Deno.makeTempDirSync();
  try {
    assertEquals(await tell(news, context, { streams: true, asJson: true, filesTo: folder }), 0);
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), ["before", "missed"]);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
  const end = JSON.parse(stdout().trim().split("\n").at(-1)!) as { files: { name: string }[] };
  assertEquals(end.files.map(({ name }) => name), ["before", "missed"]);
});
