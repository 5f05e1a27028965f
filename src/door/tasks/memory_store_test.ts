import { type Task, TaskState } from "@a2a-js/sdk";
import { assertEquals } from "@std/assert";
import { MemoryStore } from "./memory_store.ts";
import { statusOf } from "./task_words.ts";

Deno.test("MemoryStore: a context is whose it was while a task of it is kept, and nobody's after", () => {
  const store = new MemoryStore({ endedTasks: 2, endedBytes: 1e9 });
  let made = 0;
  const end = (contextId: string, principal: string) => {
    const status = (state: TaskState) => statusOf(state, ++made);
    const id = `tsk_${made}`;
    const task: Task = {
      ...{ id, contextId, artifacts: [], history: [], metadata: undefined },
      status: status(TaskState.TASK_STATE_SUBMITTED),
    };
    const record = { task, principal, origin: "peer" } as const;
    store.insert(record);
    store.update({ ...record, task: { ...task, status: status(TaskState.TASK_STATE_COMPLETED) } });
  };
  end("ctx_a", "ada");
  for (let more = 0; more < 10; more++) end("ctx_a", "owner");
  assertEquals(store.principalOf("ctx_a"), "ada");
  for (let more = 0; more < 10; more++) end("ctx_b", "bob");
  assertEquals([store.principalOf("ctx_a"), store.principalOf("ctx_b")], [undefined, "bob"]);
  assertEquals(store.list({ limit: 100 }).total, 2);
});
