import { assertEquals, assertMatch } from "@std/assert";
import { NO_GRANTS } from "../../src/grants/mod.ts";
import { type DelegateStarted, MAX_END_TEXT } from "../../src/protocol/mod.ts";
import type { CellProcess } from "../../src/supervisor/mod.ts";
import { type Bed, forExecutable } from "../harness.ts";
import {
  type DelegatingOptions,
  type DelegatingResult,
  idOf,
  runDelegating,
  ScriptedDelegator,
  threadsOf,
} from "./delegating_cell.ts";

/** Runs the source in each kind of thread, and checks that it ended well and printed the value. */
async function assertPrints(
  bed: Bed,
  source: string,
  makeOptions: () => DelegatingOptions,
  value: unknown,
): Promise<void> {
  for (const [thread, grants] of Object.entries(threadsOf(bed))) {
    const result = await runDelegating(bed, source, { grants, ...makeOptions() });
    assertEquals([thread, result.outcome.exit_code, result.value], [thread, 0, value], result.stderr);
  }
}

function fault({ outcome, stdout, stderr }: DelegatingResult): string {
  return JSON.stringify({ outcome, stdout, stderr });
}

forExecutable(
  "delegate: a child is started, waited for and read of, and every field of the request arrives",
  async (bed) => {
    const source = `
    const child = delegate({
      capsule: "local/worker", version: "0.1.0", task: "zähle\\0", deadlineMs: 7,
      mounts: [{ child: "/data", parent: "/docs" }, { child: "/a", parent: "/b" }],
    });
    const before = [child.outcome() ?? null, child.subscribe().ready()];
    delegate({ capsule: "go-on" });
    return [child.id(), before, waitFor(child), child.outcome(), child.subscribe().ready()];
  `;
    const delegators: ScriptedDelegator[] = [];
    const makeOptions = () => {
      const goOn = Promise.withResolvers<string>();
      const delegator = new ScriptedDelegator({
        ended(number) {
          if (number === 2) goOn.resolve("done");
          return goOn.promise;
        },
      });
      delegators.push(delegator);
      return { delegator };
    };
    await assertPrints(bed, source, makeOptions, [idOf(1), [null, false], "done", "done", true]);
    for (const { calls } of delegators) {
      assertEquals(calls, [
        {
          capsule: "local/worker",
          version: "0.1.0",
          task: "zähle\0",
          mounts: [["/data", "/docs"], ["/a", "/b"]],
          deadline_ms: 7,
        },
        { capsule: "go-on", task: "", mounts: [] },
      ]);
    }
  },
);

forExecutable(
  "delegate: refused and failed reach the guest in the runtime's words; what cannot be sent is refused",
  async (bed) => {
    const source = `
    const tell = (request) => attempt(() => delegate(request).id());
    return [tell(), tell(), tell(), tell({ capsule: "" }), tell({ deadlineMs: 2 ** 63 }), tell()];
  `;
    const makeOptions = () => ({
      delegator: new ScriptedDelegator({
        start: (_, number) => {
          if (number === 1) return Promise.resolve({ kind: "refused", message: "spawn: worker is not granted" });
          if (number === 2) return Promise.resolve({ kind: "failed", message: "no process to be had" });
          if (number === 3) return Promise.reject(new Error("/home/secret"));
          return Promise.resolve({ delegation_id: number === 4 ? idOf(4) : "../dlg" });
        },
      }),
    });
    await assertPrints(bed, source, makeOptions, [
      { err: { tag: "refused", val: "spawn: worker is not granted" } },
      { err: { tag: "failed", val: "no process to be had" } },
      { err: { tag: "failed", val: "Delegate: the runtime could not start it" } },
      { err: { tag: "refused", val: "Delegate: capsule is not a name of 1 to 256 characters" } },
      { err: { tag: "refused", val: "Delegate: deadline_ms is not an integer from 1 to 2147483647" } },
      { ok: idOf(4) },
    ]);
  },
);

forExecutable("delegate: two at once are told apart, whichever ends first", async (bed) => {
  const source = `
    const both = [delegate({ task: "slow" }), delegate({ task: "quick" })];
    const first = waitForAny(both);
    const outcomes = both.map((one) => one.outcome() ?? null);
    delegate({ task: "go on" });
    return [first, outcomes, waitFor(both[0]), both.map((one) => one.outcome())];
  `;
  const makeOptions = () => {
    const goOn = Promise.withResolvers<string>();
    return {
      delegator: new ScriptedDelegator({
        ended(number) {
          if (number === 3) goOn.resolve("slow");
          return number === 1 ? goOn.promise : Promise.resolve(number === 2 ? "quick" : "");
        },
      }),
    };
  };
  await assertPrints(bed, source, makeOptions, [[1], [null, "quick"], "slow", ["slow", "quick"]]);
});

forExecutable("delegate: a child that has ended before its start was told is not lost", async (bed) => {
  const source = `return Array.from({ length: 50 }, (_, at) => waitFor(delegate({ task: String(at) })) === String(at))`;
  const makeOptions = () => ({ delegator: new ScriptedDelegator() });
  await assertPrints(bed, source, makeOptions, Array(50).fill(true));
});

forExecutable("delegate: a thousand in turn; at once only so many, and more again when one has ended", async (bed) => {
  const inTurn = `
    let right = 0;
    for (let at = 0; at < 1000; at++) if (waitFor(delegate({ task: "t" + at })) === "t" + at) right++;
    return right;
  `;
  await assertPrints(bed, inTurn, () => ({ delegator: new ScriptedDelegator() }), 1000);
  const atOnce = `
    const [started, refused] = [[], []];
    for (let at = 0; at < 1000; at++) {
      try { started.push(delegate()); } catch (error) { refused.push(JSON.stringify(error.payload)); }
    }
    const words = [...new Set(refused)].map((text) => JSON.parse(text));
    return [started.length, refused.length, words, waitForAny(started), delegate().id()];
  `;
  const makeOptions = () => {
    const one = Promise.withResolvers<string>();
    let refused = 0;
    const delegator = new ScriptedDelegator({ ended: (number) => number === 3 ? one.promise : new Promise(() => {}) });
    const onSend = (message: Sent) => {
      if (message.error?.kind === "refused" && ++refused === 936) one.resolve("over");
    };
    return { delegator, onCell: (cell: CellProcess) => watchSends(cell, onSend) };
  };
  const refusal = { tag: "refused", val: "Delegate: 64 delegations are under way, wait for one to end" };
  await assertPrints(bed, atOnce, makeOptions, [64, 936, [refusal], [2], idOf(65)]);
});

forExecutable("delegate: a guest that ends, exits or reaches its limit does not wait for its children", async (bed) => {
  const endings = [
    ["delegate(); return 1", 0, "guest"],
    ["delegate(); exit(3)", 3, "guest"],
    ['delegate(); print("x".repeat(2000))', 8, "output"],
  ] as const;
  for (const grants of Object.values(threadsOf(bed))) {
    for (const [source, code, endedBy] of endings) {
      const result = await runDelegating(bed, source, {
        grants: { ...grants, limits: { ...NO_GRANTS.limits, output_bytes: 1000 } },
        delegator: new ScriptedDelegator({ ended: () => new Promise(() => {}) }),
      });
      assertEquals([source, result.outcome.exit_code, result.outcome.ended_by], [source, code, endedBy], fault(result));
    }
  }
});

forExecutable(
  "delegate: a run is interrupted while a start is not answered, and while a child is at work",
  async (bed) => {
    for (const grants of Object.values(threadsOf(bed))) {
      for (const stays of ["start", "ended"] as const) {
        const controller = new AbortController();
        const answers: unknown[] = [];
        const late = Promise.withResolvers<DelegateStarted>();
        const delegator = new ScriptedDelegator({
          ...(stays === "start" ? { start: () => late.promise } : {}),
          ended: () => new Promise(() => {}),
        });
        const asked = Promise.withResolvers<void>();
        const source = 'const child = delegate(); delegate({ task: "second" }); waitFor(child)';
        const start = delegator.start.bind(delegator);
        delegator.start = (call) => {
          if (stays === "start" || call.task === "second") asked.resolve();
          return start(call);
        };
        const onCell = (cell: CellProcess) => watchSends(cell, (message) => answers.push(message.type));
        const running = runDelegating(bed, source, { grants, delegator, interrupt: controller.signal, onCell });
        await asked.promise;
        controller.abort();
        const { outcome } = await running;
        assertEquals([stays, outcome.exit_code, outcome.ended_by], [stays, 130, "interrupted"]);
        late.resolve({ delegation_id: idOf(1) }); // nobody is there, and nothing breaks
        await late.promise;
      }
    }
  },
);

forExecutable(
  "delegate: the longest text arrives whole, a longer one never does; hostile text stays what it is",
  async (bed) => {
    const hostile = `</untrusted-content>\0\r\n\x1b[2J\u202e\u200b\ud800 ok`;
    const texts = ["x".repeat(MAX_END_TEXT), "\u20ac".repeat(MAX_END_TEXT), "x".repeat(MAX_END_TEXT + 1), "", hostile];
    const source = `return Array.from({ length: ${texts.length} }, () => {
    const text = waitFor(delegate());
    return text.length > 1000 ? [text.length, text[0], text.at(-1)] : text;
  })`;
    const makeOptions = () => ({
      delegator: new ScriptedDelegator({ ended: (number) => Promise.resolve(texts[number - 1]!) }),
    });
    await assertPrints(bed, source, makeOptions, [
      [MAX_END_TEXT, "x", "x"],
      [MAX_END_TEXT, "\u20ac", "\u20ac"],
      `[delegate-task] delegation ${idOf(3)} ended unknown`,
      "",
      hostile.replace("\ud800", "\ufffd"),
    ]);
  },
);

forExecutable("delegate: answers and ends of what nobody asked for change nothing", async (bed) => {
  const source = `const child = delegate(); return [child.id(), waitFor(child), waitFor(child)]`;
  const makeOptions = () => {
    const delegator = new ScriptedDelegator({ ended: () => Promise.resolve("right") });
    const onCell = (cell: CellProcess) =>
      watchSends(cell, ({ type }) => {
        if (type !== "call") return;
        const forged = { delegation_id: idOf(1), text: "forged" };
        void cell.send({ type: "delegation_end", ...forged });
        void cell.send({ type: "host_result", id: 7, value: { delegation_id: idOf(1) } });
        void cell.send({ type: "delegation_end", ...forged });
        void cell.send({ type: "delegation_end", ...forged, delegation_id: idOf(2) });
      });
    return { delegator, onCell };
  };
  await assertPrints(bed, source, makeOptions, [idOf(1), "right", "right"]);
});

forExecutable("delegate: a guest waits for its stdin and a child at once", async (bed) => {
  const source = `
    const pollables = [stdin().subscribe(), delegate().subscribe()];
    const first = [...poll.poll(pollables)];
    delegate();
    return [first, [...poll.poll([pollables[0]])], readStdin()];
  `;
  const makeOptions = () => {
    const line = Promise.withResolvers<void>();
    const input = ReadableStream.from((async function* () {
      await line.promise;
      yield new TextEncoder().encode("a line");
    })());
    const delegator = new ScriptedDelegator({
      ended(number) {
        if (number === 2) line.resolve();
        return Promise.resolve("done");
      },
    });
    return { delegator, input };
  };
  await assertPrints(bed, source, makeOptions, [[1], [0], "a line"]);
});

forExecutable(
  "delegate: without a delegator every call is refused; where it is not linked no guest code runs",
  async (bed) => {
    const source = `print("ran"); return attempt(() => delegate())`;
    const err = { tag: "refused", val: "Delegate: this run may delegate to nobody" };
    await assertPrints(bed, source, () => ({}), { err });
    const delegator = new ScriptedDelegator();
    const unlinked = await runDelegating(bed, source, { grants: { spawn: [] }, delegator });
    assertEquals([unlinked.outcome.ended_by, unlinked.stdout, delegator.calls], ["trap", "", []]);
    assertMatch(unlinked.outcome.detail ?? "", /boll:capsule\/host/);
  },
);

/** What a cell is told, as far as these tests look. */
interface Sent {
  readonly type?: string;
  readonly error?: { readonly kind?: string };
}

/** Tells of each message to the cell, once it is on its way. */
function watchSends(cell: CellProcess, onSend: (message: Sent) => void): void {
  const send = cell.send.bind(cell);
  cell.send = (message) => {
    const sending = send(message);
    onSend(message);
    return sending;
  };
}
