import { assert, assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import { createSession, findGap, followTrace, type Home, openHome, readTraceLines, removeSession } from "../mod.ts";
import { type SessionEnd, type SessionPlaces, TraceWriter } from "../mod.ts";
import { traceLine } from "./trace_writer.ts";

const END: SessionEnd = { status: "completed", exit_code: 0, ended_by: "guest", duration_ms: 12 };
const DENIED = { wall: "imports", grant: "random", asked: "wasi:random/random" } as const;

async function withSession(run: (places: SessionPlaces, home: Home) => Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync();
  try {
    const home = openHome((name) => name === "BOLL_HOME" ? `${folder}/home` : undefined);
    using places = createSession(home);
    await run(places, home);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** Follows to the end; each wait does the next step. */
async function follow(places: SessionPlaces, steps: (() => void)[], from?: number): Promise<string[]> {
  const seen: string[] = [];
  const pause = () => {
    const step = steps.shift();
    assert(step !== undefined, "it waits, and nothing more comes");
    step();
    return Promise.resolve();
  };
  for await (const { event, problem } of followTrace(places, { pause, ...(from === undefined ? {} : { from }) })) {
    seen.push(event?.event ?? problem!.reason);
  }
  return seen;
}

const append = (path: string, text: string) => Deno.writeTextFileSync(path, text, { append: true });

Deno.test("followTrace: waits for the trace, gives each line once it is whole, ends at session_end", () =>
  withSession(async (places) => {
    using writer = new TraceWriter(places);
    const line = traceLine("denied", places.id, 1, { ...DENIED, asked: "é漢" });
    const seen = await follow(places, [
      () => {},
      () => writer.append("denied", DENIED),
      () => append(places.trace, line.slice(0, 40)),
      () => append(places.trace, line.slice(40)),
      () => append(places.trace, "\ntorn\n\n"),
      () => writer.append("session_end", END),
    ]);
    assertEquals(seen, ["denied", "denied", "not JSON", "session_end"]);
    assertEquals(await follow(places, []), seen);
  }));

Deno.test("followTrace: a session whose supervisor dies gets its ending meanwhile, after the line it tore", () =>
  withSession(async (places) => {
    append(places.trace, '{"event":"den');
    assertEquals(await follow(places, [() => places.close()]), ["not JSON", "session_end"]);
  }));

Deno.test("followTrace: an ending that is no last event does not make it wait for ever", () =>
  withSession(async (places) => {
    const end = traceLine("session_end", places.id, 1, END);
    append(places.trace, `${end}\n{"torn`);
    assertEquals(await follow(places, [], end.length + 1), ["torn"]);
  }));

Deno.test("followTrace: ends when it is interrupted, and with an error when the session is removed", () =>
  withSession(async (places, home) => {
    const controller = new AbortController();
    const pause = () => Promise.resolve(controller.abort());
    for await (const _line of followTrace(places, { pause, signal: controller.signal })) assert(false);
    const removed = follow(places, [() => {
      places.close();
      assertEquals(removeSession(home, places.id), "removed");
    }]);
    assertEquals((await assertRejects(() => removed, CapsuleError)).code, "records.not_found");
  }));

Deno.test("findGap: nothing at the limit; beyond it the two ends stay, cut at lines, and nothing is lost or doubled", () =>
  withSession((places) => {
    const line = (i: number) => traceLine("denied", places.id, i, DENIED) + "\n";
    const text = Array.from({ length: 1000 }, (_, i) => line(i)).join("");
    Deno.writeTextFileSync(places.trace, text);
    assertEquals(findGap(places.trace, text.length), undefined);
    const gap = findGap(places.trace, text.length - 1)!;
    const head = [...readTraceLines(places.trace, { to: gap.from })];
    const tail = [...readTraceLines(places.trace, { from: gap.to })];
    assertEquals([head.length, tail.length], [200, 200]);
    assertEquals([head[199]!.event!.ts, tail[0]!.event!.ts, tail[199]!.event!.ts], [199, 800, 999]);
    assertEquals([head[199]!.line, tail[0]!.line], [200, 0]);
    append(places.trace, "torn");
    const torn = [...readTraceLines(places.trace, { from: findGap(places.trace, 1)!.to })];
    assertEquals([torn[0]!.event!.ts, torn.length, torn.at(-1)!.problem], [800, 201, { line: 0, reason: "torn" }]);
    Deno.writeTextFileSync(places.trace, Array.from({ length: 300 }, (_, i) => line(i)).join(""));
    assertEquals(findGap(places.trace, 1), undefined);
    Deno.writeTextFileSync(places.trace, "x".repeat(9_000_000));
    assertEquals(findGap(places.trace), { from: 0, to: 7_361_600 });
    return Promise.resolve();
  }));
