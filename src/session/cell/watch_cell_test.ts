import { assertEquals } from "@std/assert";
import { LEAVING_TIMEOUT_MS, watchCell } from "./watch_cell.ts";

const READY = { type: "ready", walls: { landlock: true, seccomp: true, abi: 7, worker: true } };
const USAGE = { type: "usage", memory_percent: 1, bytes_written: 0, output_bytes: 0, stdout_closed: false };
const ENDED = { type: "ended", kind: "exit", code: 0 };

function neverAborts(): AbortSignal {
  return new AbortController().signal;
}

/** Watches a cell that says exactly `said`, then goes unless it `stays`, `silent` or not; gives the outcome and the events of the trace. */
async function watch(said: readonly object[], { stays = false, silent = false, interrupt = neverAborts() } = {}) {
  const gone = Promise.withResolvers<void>();
  if (!stays) gone.resolve();
  const events: string[] = [];
  const sent: unknown[] = [];
  const { outcome } = await watchCell({
    cell: {
      send: (message) => (sent.push((message as { type: string }).type), Promise.resolve()),
      async *receive() {
        for (const message of said) yield message as Record<string, unknown>;
        if (!silent) await gone.promise;
      },
      kill: () => gone.resolve(),
      exit: gone.promise.then(() => stays ? { code: 137, signal: "SIGKILL" as const } : { code: 0, signal: null }),
    },
    load: { type: "load", terminal: [false, false, false] } as never,
    run: {
      plan: { grants: { limits: { deadline_ms: 60_000 } }, containment: { achieved: "scoped" } } as never,
      trace: { append: (event: string) => void events.push(event) } as never,
      interrupt,
    },
    network: undefined,
    denials: { tell: () => {} },
  });
  return { ended_by: outcome.ended_by, exit_code: outcome.exit_code, events, sent };
}

Deno.test("watchCell: a cell that is ready once runs to its end", async () => {
  assertEquals(await watch([READY, USAGE, ENDED]), {
    ended_by: "guest",
    exit_code: 0,
    events: ["walls"],
    sent: ["load", "call"],
  });
});

Deno.test("watchCell: a second ready, which would start the deadline anew and record other walls, ends the cell", async () => {
  const forged = { ...READY, walls: { ...READY.walls, abi: 99 } };
  assertEquals(await watch([READY, forged], { stays: true }), {
    ended_by: "crashed",
    exit_code: 1,
    events: ["walls"],
    sent: ["load", "call"],
  });
});

Deno.test("watchCell: a cell that forges a delegation is refused where there is no delegator, and ended where it is none", async () => {
  const call = { type: "host_call", id: 3, name: "delegate", args: { capsule: "worker", task: "", mounts: [] } };
  assertEquals(await watch([READY, call, USAGE, ENDED]), {
    ended_by: "guest",
    exit_code: 0,
    events: ["walls"],
    sent: ["load", "call", "host_result"],
  });
  const broken = await watch([READY, { ...call, args: { ...call.args, capsule: "" } }], { stays: true });
  assertEquals([broken.ended_by, broken.sent], ["crashed", ["load", "call"]]);
});

Deno.test("watchCell: a cell that closes its side and stays is not waited for without end, and can be interrupted", async () => {
  const controller = new AbortController();
  const interrupted = watch([READY], { stays: true, silent: true, interrupt: controller.signal });
  await new Promise((resolve) => setTimeout(resolve, 0));
  controller.abort();
  assertEquals((await interrupted).ended_by, "interrupted");
  const original = globalThis.setTimeout;
  globalThis.setTimeout =
    ((run: () => void, delayMs?: number) =>
      original(run, delayMs === LEAVING_TIMEOUT_MS ? 0 : delayMs)) as typeof setTimeout;
  try {
    assertEquals((await watch([READY], { stays: true, silent: true })).ended_by, "crashed");
    assertEquals((await watch([READY, USAGE, ENDED], { stays: true })).ended_by, "guest");
  } finally {
    globalThis.setTimeout = original;
  }
});
