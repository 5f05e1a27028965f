import { assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import { CellPool, type CellPoolOptions, type PooledCell } from "./cell_pool.ts";
import { type CallFailure, HttpCall } from "./http_call.ts";
import type { CellLoss } from "../cell/serving_cell.ts";

const LOSS: CellLoss = { exit: { code: 137, signal: "SIGKILL" }, stderr: "" };

/** A cell that does what the test says. */
class FakeCell implements PooledCell {
  readonly calls = new Set<HttpCall>();
  readonly expired: HttpCall[] = [];
  served = 0;
  onFree: () => void = () => {};
  readonly #lost = Promise.withResolvers<CellLoss>();
  readonly lost = this.#lost.promise;

  get load(): number {
    return this.calls.size;
  }

  open(call: HttpCall): void {
    this.calls.add(call);
    call.start(this.calls.size, () => {});
    call.over.then(() => {
      if (!this.calls.delete(call)) return;
      this.served++;
      this.onFree();
    });
  }

  expire(call: HttpCall): Promise<void> {
    this.expired.push(call);
    call.finish({ failed: "deadline", detail: "" });
    return Promise.resolve();
  }

  takeCalls(): HttpCall[] {
    const calls = [...this.calls];
    this.calls.clear();
    return calls;
  }

  kill(): void {
    this.#lost.resolve(LOSS);
  }
}

function call(method = "GET", body: ReadableStream<Uint8Array> | null = null): HttpCall {
  const head = { method, scheme: "http" as const, authority: "a", path_with_query: "/", headers: [] };
  return new HttpCall({ head, body, maxBodyBytes: 10 });
}

/** A pool of fake cells, and all cells that it started so far. */
async function openPool(
  options: Partial<CellPoolOptions> = {},
): Promise<{ pool: CellPool; started: FakeCell[]; lost: number[] }> {
  const [started, lost]: [FakeCell[], number[]] = [[], []];
  const pool = new CellPool({
    cells: 2,
    concurrency: 2,
    queue: 1,
    deadlineMs: 60_000,
    start() {
      const cell = new FakeCell();
      started.push(cell);
      return Promise.resolve(cell);
    },
    onLost: (_, calls) => lost.push(calls),
    onStartFailed: () => {},
    ...options,
  });
  await pool.open();
  return { pool, started, lost };
}

/** Lets everything that is due run. */
const settle = () => new Promise((resolve) => setTimeout(resolve));

async function failureOf(one: HttpCall): Promise<CallFailure["failed"] | undefined> {
  return (await one.over)?.failed;
}

Deno.test("CellPool: a call goes to who has least to do, waits when all are full, and is refused beyond the queue", async () => {
  const { pool, started } = await openPool();
  const calls = Array.from({ length: 6 }, () => call());
  for (const one of calls) pool.submit(one);
  assertEquals(started.map(({ load }) => load), [2, 2]);
  assertEquals(await failureOf(calls[5]!), "overloaded");
  assertEquals([calls[4]!.isOver, started.some(({ calls: had }) => had.has(calls[4]!))], [false, false]);
  calls[0]!.finish(undefined);
  await settle();
  assertEquals(started[0]!.calls.has(calls[4]!), true);
  await pool.close();
  assertEquals(await failureOf(calls[4]!), "draining");
});

Deno.test("CellPool: a lost cell is replaced; what may be asked twice is, once, and the rest fails", async () => {
  const { pool, started, lost } = await openPool({ cells: 1, concurrency: 4 });
  const [get, head, post, upload] = [call(), call("HEAD"), call("POST"), call("GET", new ReadableStream())];
  const answered = call();
  const all = [get, head, post, upload];
  for (const one of all) pool.submit(one);
  started[0]!.kill();
  assertEquals([await failureOf(post), await failureOf(upload)], ["cell_lost", "cell_lost"]);
  await settle();
  assertEquals([lost, started.length], [[4], 2]);
  assertEquals([started[1]!.calls.has(get), started[1]!.calls.has(head)], [true, true]);
  pool.submit(answered);
  answered.receive({ type: "head", id: 1, status: 200, headers: [] });
  started[1]!.kill();
  for (const one of [get, head, answered]) assertEquals(await failureOf(one), "cell_lost");
  await pool.close();
});

Deno.test("CellPool: a call's time runs in the cell and in the queue alike", async () => {
  const { pool, started } = await openPool({ cells: 1, concurrency: 1, deadlineMs: 1 });
  const [inCell, inQueue] = [call(), call()];
  pool.submit(inCell);
  pool.submit(inQueue);
  const failures = [await failureOf(inCell), await failureOf(inQueue)];
  assertEquals(failures[0], "deadline");
  assertEquals(["overloaded", "deadline"].includes(failures[1]!), true);
  assertEquals(started[0]!.expired[0], inCell);
  await pool.close();
});

Deno.test("CellPool: who gives up while it waits makes room for another", async () => {
  const { pool } = await openPool({ cells: 1, concurrency: 1 });
  const [busy, waiting, next] = [call(), call(), call()];
  for (const one of [busy, waiting]) pool.submit(one);
  waiting.cancel();
  assertEquals(await failureOf(waiting), "client_gone");
  await settle();
  pool.submit(next);
  assertEquals(next.isOver, false);
  await pool.close();
});

Deno.test("CellPool.open: a cell that cannot start fails the pool, and no other cell is left", async () => {
  const cells: FakeCell[] = [];
  const error = new CapsuleError("cell.start_failed", "Start a cell: no");
  await assertRejects(
    () =>
      openPool({
        start() {
          if (cells.length === 1) return Promise.reject(error);
          cells.push(new FakeCell());
          return Promise.resolve(cells[0]!);
        },
      }),
    CapsuleError,
    "Start a cell: no",
  );
  assertEquals(await cells[0]!.lost, LOSS);
});

Deno.test("CellPool: cells that are lost again and again before they have served are replaced ever later", async () => {
  const { pool, started } = await openPool({ cells: 1 });
  started[0]!.kill();
  await settle();
  assertEquals(started.length, 2, "the first at once");
  started[1]!.kill();
  await settle();
  assertEquals(started.length, 2, "the second later");
  await pool.close();
  assertEquals(started.length, 2, "and not once the pool is closed");
});
