import { type Task, TaskState } from "@a2a-js/sdk";
import { assertEquals, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { newId } from "../../base/mod.ts";
import { openSqliteStore, type SqliteStoreOptions } from "./sqlite_store.ts";
import type { TaskRecord } from "./task_store.ts";
import { statusOf } from "./task_words.ts";

const { TASK_STATE_SUBMITTED: WAITS, TASK_STATE_WORKING: RUNS, TASK_STATE_COMPLETED: DONE } = TaskState;
const HOUR = 3_600_000;

/** A clock that the test sets. */
class SetClock {
  ms = Date.UTC(2030, 0, 1);

  now(): number {
    return this.ms;
  }
}

function taskOf(clock: SetClock, { context = "ctx_1", principal = "ada", bytes = 1 } = {}): TaskRecord {
  const status = statusOf(WAITS, clock.now());
  const id = newId("tsk", () => clock.now());
  const task: Task = { id, contextId: context, status, artifacts: [], history: [], metadata: { x: "x".repeat(bytes) } };
  return { task, principal, origin: "peer" };
}

function inState({ task, ...record }: TaskRecord, state: TaskState, clock: SetClock): TaskRecord {
  return { ...record, task: { ...task, status: statusOf(state, clock.now()) } };
}

function withStore(
  limits: Partial<SqliteStoreOptions["limits"]>,
  body: (open: () => ReturnType<typeof openSqliteStore>, clock: SetClock, folder: string) => void,
): void {
  const folder = Deno.makeTempDirSync({ prefix: "boll-store-" });
  const clock = new SetClock();
  const kept = { keptTasks: 1_000, keptBytes: 1e9, keptMs: 1e12, ...limits };
  try {
    body(() => openSqliteStore(folder, { limits: kept, clock }), clock, folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("SqliteStore: at most so many ended tasks, the oldest go; one that runs or waits stays, however old", () => {
  withStore({ keptTasks: 10 }, (open, clock) => {
    const store = open();
    const [waiting, running] = [taskOf(clock), taskOf(clock)];
    for (const record of [waiting, running]) store.insert(record);
    store.update(inState(running, RUNS, clock));
    const ids = [];
    for (let made = 0; made < 100; made++) {
      const record = taskOf(clock);
      store.insert(record);
      clock.ms++;
      store.update(inState(record, DONE, clock));
      ids.push(record.task.id);
      const ended = store.list({ state: DONE, limit: 1_000 });
      assertEquals(ended.total <= 10, true, `${ended.total} are kept`);
      assertEquals([...ended.records][0]!.task.id, record.task.id);
    }
    // Of a clock that stands still too.
    assertEquals(new Set(ids).size, 100);
    assertEquals(store.find(ids[0]!), undefined);
    assertEquals(store.find(ids.at(-1)!)?.task.id, ids.at(-1));
    assertEquals(store.unfinished().map(({ task }) => task.id), [waiting.task.id, running.task.id]);
    store.close();
  });
});

Deno.test("SqliteStore: what is too old goes at the start and as time goes by, what is not stays", () => {
  withStore({ keptMs: 5 * HOUR }, (open, clock) => {
    const store = open();
    const end = () => {
      const record = taskOf(clock);
      store.insert(record);
      store.update(inState(record, DONE, clock));
      return record.task.id;
    };
    const [old, waiting] = [end(), taskOf(clock)];
    store.insert(waiting);
    clock.ms += 5 * HOUR;
    const young = end();
    assertEquals(store.find(old)?.task.id, old);
    clock.ms += HOUR + 1;
    end();
    assertEquals([store.find(old), store.find(young)?.task.id], [undefined, young]);
    store.close();
    clock.ms += 5 * HOUR + 1;
    const later = open();
    assertEquals([...later.list({ limit: 100 }).records].map(({ task }) => task.id), [waiting.task.id]);
    later.close();
  });
});

Deno.test("SqliteStore: at most so many bytes, and the last task however large", () => {
  withStore({ keptBytes: 10_000 }, (open, clock) => {
    const store = open();
    for (const bytes of [3_000, 3_000, 3_000, 50_000]) {
      const record = taskOf(clock, { bytes });
      store.insert(record);
      clock.ms++;
      store.update(inState(record, DONE, clock));
      assertEquals(store.find(record.task.id)?.task.id, record.task.id);
    }
    assertEquals(store.list({ limit: 100 }).total, 1);
    store.close();
  });
});

Deno.test("SqliteStore: a context is whose it was while a task of it is kept, and nobody's after", () => {
  withStore({ keptTasks: 2 }, (open, clock) => {
    const store = open();
    const end = (context: string, principal: string) => {
      const record = taskOf(clock, { context, principal });
      store.insert(record);
      clock.ms++;
      store.update(inState(record, DONE, clock));
    };
    end("ctx_a", "ada");
    for (let made = 0; made < 10; made++) end("ctx_a", "owner");
    assertEquals(store.principalOf("ctx_a"), "ada");
    for (let made = 0; made < 10; made++) end("ctx_b", "bob");
    assertEquals([store.principalOf("ctx_a"), store.principalOf("ctx_b")], [undefined, "bob"]);
    store.close();
  });
});

Deno.test("SqliteStore: what the version before wrote is taken over; what a later one wrote is refused", () => {
  withStore({}, (open, clock, folder) => {
    const store = open();
    for (const principal of ["ada", "owner"]) store.insert(taskOf(clock, { principal }));
    store.close();
    const database = new DatabaseSync(`${folder}/tasks.sqlite`);
    database.exec("DROP TABLE contexts; PRAGMA user_version = 1");
    database.close();
    const taken = open();
    assertEquals([taken.principalOf("ctx_1"), taken.list({ limit: 10 }).total], ["ada", 2]);
    taken.close();
    const newer = new DatabaseSync(`${folder}/tasks.sqlite`);
    newer.exec("PRAGMA user_version = 3");
    newer.close();
    assertThrows(open, Error, "found version 3");
  });
});
