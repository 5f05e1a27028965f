import { assert, assertEquals, assertInstanceOf, assertStringIncludes, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import { CapsuleError } from "../../base/mod.ts";
import { boundedText, boundedValue, MAX_FIELD_ENTRIES, MAX_FIELD_LENGTH } from "../bounded.ts";
import { hasSessionEnd, readTrace, readTraceLines, type SessionEnd, TraceWriter } from "../mod.ts";
import { MAX_EVENTS_PER_NAME, MAX_LINE_LENGTH, traceLine } from "./trace_writer.ts";

const END: SessionEnd = { status: "completed", exit_code: 0, ended_by: "guest", duration_ms: 12 };
const DENIED = { wall: "imports", grant: "random", asked: "wasi:random/random" } as const;

function withTrace(run: (trace: { id: string; trace: string }) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    run({ id: "ses_1", trace: `${folder}/trace.jsonl` });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("TraceWriter: one line per event, with event, ts and session_id, 0600", () =>
  withTrace((places) => {
    let now = 1000.7;
    using writer = new TraceWriter(places, { now: () => now++ });
    writer.append("denied", DENIED);
    writer.append("session_end", END);
    assertEquals(Deno.readTextFileSync(places.trace).split("\n"), [
      '{"event":"denied","ts":1000,"session_id":"ses_1","wall":"imports","grant":"random","asked":"wasi:random/random"}',
      '{"event":"session_end","ts":1001,"session_id":"ses_1","status":"completed","exit_code":0,"ended_by":"guest","duration_ms":12}',
      "",
    ]);
    assertEquals(Deno.lstatSync(places.trace).mode! & 0o777, 0o600);
  }));

Deno.test("TraceWriter: the first session_end counts, nothing follows it", () =>
  withTrace((places) => {
    using writer = new TraceWriter(places);
    assertEquals(writer.hasEnded, false);
    writer.append("session_end", END);
    writer.append("session_end", { ...END, exit_code: 1 });
    writer.append("denied", DENIED);
    assertEquals(writer.hasEnded, true);
    assertEquals(readTrace(places.trace).events.map((event) => event["exit_code"]), [0]);
  }));

Deno.test("TraceWriter: a flood of one event is counted, not written", () =>
  withTrace((places) => {
    using writer = new TraceWriter(places);
    for (let i = 0; i < MAX_EVENTS_PER_NAME + 5; i++) writer.append("denied", DENIED);
    writer.append("session_end", END);
    const { events } = readTrace(places.trace);
    assertEquals(events.length, MAX_EVENTS_PER_NAME + 1);
    assertEquals(events.at(-1)!["dropped_events"], { denied: 5 });
  }));

Deno.test("TraceWriter: of tasks none is left out, however many there were", () =>
  withTrace((places) => {
    using writer = new TraceWriter(places);
    const end = { task_id: "tsk_1", state: "completed", duration_ms: 1 } as const;
    for (let i = 0; i < MAX_EVENTS_PER_NAME + 5; i++) writer.append("task_end", end);
    for (let i = 0; i < MAX_EVENTS_PER_NAME + 5; i++) writer.append("task_rejected", { ...end, state: "rejected" });
    writer.append("session_end", END);
    const { events } = readTrace(places.trace);
    assertEquals(events.filter(({ event }) => event === "task_end").length, MAX_EVENTS_PER_NAME + 5);
    assertEquals(events.at(-1)!["dropped_events"], { task_rejected: 5 });
  }));

Deno.test("TraceWriter: a failing disk is told once, never throws, and writing goes on when it heals", () =>
  withTrace((places) => {
    const told: Error[] = [];
    Deno.mkdirSync(places.trace);
    using writer = new TraceWriter(places, { onProblem: (error) => told.push(error) });
    writer.append("denied", DENIED);
    writer.append("denied", DENIED);
    assertEquals(told.length, 1);
    assertInstanceOf(told[0], CapsuleError);
    assertEquals(writer.problem, told[0]);
    Deno.removeSync(places.trace);
    writer.append("session_end", END);
    assert(hasSessionEnd(places.trace));
    assertEquals(told.length, 1);
  }));

Deno.test({
  name: "TraceWriter: a full disk says that it is full",
  ignore: Deno.build.os !== "linux",
  fn() {
    const told: Error[] = [];
    using writer = new TraceWriter({ id: "ses_1", trace: "/dev/full" }, { onProblem: (error) => told.push(error) });
    writer.append("denied", DENIED);
    writer.append("session_end", END);
    assertEquals(told.length, 1);
    assertStringIncludes(told[0]!.message, "free space there");
  },
});

Deno.test("traceLine: no field can take the envelope's place or break the line", () => {
  const line = traceLine("denied", "ses_1", 5, { event: "session_end", ts: 0, session_id: "x", asked: "a\nb\u2028c" });
  assertEquals(line.includes("\n"), false);
  const parsed = JSON.parse(line);
  assertEquals([parsed.event, parsed.ts, parsed.session_id, parsed.asked], ["denied", 5, "ses_1", "a\nb\u2028c"]);
});

Deno.test("traceLine: foreign text of any size stays one bounded line", () => {
  const huge = Array.from({ length: 2000 }, () => "x".repeat(100_000));
  const line = traceLine("denied", "ses_1", 5, { ...DENIED, asked: "y".repeat(1_000_000), list: huge });
  assert(line.length <= MAX_LINE_LENGTH);
  const parsed = JSON.parse(line);
  assertEquals(parsed.truncated, true);
  assertEquals(parsed.grant, "random");
  assertEquals(parsed.asked.length, MAX_FIELD_LENGTH + " … [truncated]".length);
});

Deno.test("boundedText: exactly at the limit stays, one beyond is cut, a character is never split", () => {
  assertEquals(boundedText("abc", 3), "abc");
  assertEquals(boundedText("abcd", 3), "abc … [truncated]");
  assertEquals(boundedText("ab😀d", 3), "ab … [truncated]");
  assertEquals(boundedText("ab😀d", 4), "ab😀 … [truncated]");
});

Deno.test("boundedValue: any value becomes JSON, and a small one stays equal", () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
    const small = JSON.stringify(value);
    assertEquals(JSON.stringify(boundedValue(value)), small);
  }));
  const deep: { next?: unknown } = {};
  for (let at = deep, i = 0; i < 10_000; i++) at = (at.next = {}) as typeof deep;
  assert(JSON.stringify(boundedValue(deep)).length < 500);
  assertEquals((boundedValue(new Array(5000).fill(1)) as unknown[]).length, MAX_FIELD_ENTRIES + 1);
  assertEquals(boundedValue({ big: 2n ** 64n }), { big: "18446744073709551616" });
});

Deno.test("readTrace: a torn last line and junk are reported, the events around them are kept", () =>
  withTrace((places) => {
    const good = traceLine("denied", "ses_1", 1, DENIED);
    Deno.writeTextFileSync(places.trace, `${good}\nnot json\n[1]\n\n${good}\n${good.slice(0, 20)}`);
    const { events, problems } = readTrace(places.trace);
    assertEquals(events.length, 2);
    assertEquals(problems, [
      { line: 2, reason: "not JSON" },
      { line: 3, reason: "not an event" },
      { line: 6, reason: "torn" },
    ]);
  }));

Deno.test("readTrace: a line nested past any stack is no event, one nested like the deepest of ours is", () =>
  withTrace((places) => {
    const nested = (depth: number) =>
      `{"event":"denied","ts":1,"session_id":"ses_1","asked":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    Deno.writeTextFileSync(places.trace, [nested(12), nested(100_000), nested(200_000)].join("\n") + "\n");
    const { events, problems } = readTrace(places.trace);
    assertEquals(events.length, 1);
    assertEquals(problems.map(({ line }) => line), [2, 3]);
  }));

Deno.test("readTrace: every point where a crash can cut the last line is tolerated", () =>
  withTrace((places) => {
    const first = traceLine("denied", "ses_1", 1, DENIED) + "\n";
    const last = traceLine("denied", "ses_1", 1, { ...DENIED, asked: "é漢😀" }) + "\n";
    const bytes = new TextEncoder().encode(first + last);
    const firstLength = new TextEncoder().encode(first).length;
    for (let cut = firstLength; cut < bytes.length; cut++) {
      Deno.writeFileSync(places.trace, bytes.subarray(0, cut));
      const { events, problems } = readTrace(places.trace);
      const isWhole = cut === bytes.length - 1;
      assertEquals(events.length, isWhole ? 2 : 1);
      assertEquals(problems.map(({ reason }) => reason), isWhole || cut === firstLength ? [] : ["torn"]);
    }
  }));

Deno.test("readTraceLines: lines over chunk borders are whole, an endless line is skipped in flat memory", () =>
  withTrace((places) => {
    const long = traceLine("denied", "ses_1", 1, { list: new Array(60).fill("z".repeat(4000)) });
    const file = Deno.openSync(places.trace, { write: true, create: true });
    const block = new TextEncoder().encode("j".repeat(1024 * 1024));
    file.writeSync(new TextEncoder().encode(`${long}\n`));
    for (let i = 0; i < 8; i++) file.writeSync(block);
    file.writeSync(new TextEncoder().encode(`\n${long}\n`));
    file.close();
    const lines = [...readTraceLines(places.trace)];
    assertEquals(lines.map(({ problem }) => problem?.reason), [undefined, "too long", undefined]);
    assertEquals([lines[0]!.text, lines[2]!.text], [long, long]);
  }));

Deno.test("readTrace: a missing trace is records.not_found, a link or a folder is records.unreadable", () =>
  withTrace((places) => {
    const code = () => assertThrows(() => readTrace(places.trace), CapsuleError).code;
    assertEquals(code(), "records.not_found");
    Deno.symlinkSync("/etc/hostname", places.trace);
    assertEquals(code(), "records.unreadable");
    Deno.removeSync(places.trace);
    Deno.mkdirSync(places.trace);
    assertEquals(code(), "records.unreadable");
    Deno.removeSync(places.trace);
    Deno.writeTextFileSync(places.trace, "");
    assertEquals(readTrace(places.trace), { events: [], problems: [] });
  }));

Deno.test("hasSessionEnd: found at the end however long the line, not in junk, not in another event", () =>
  withTrace((places) => {
    const filler = (traceLine("denied", "ses_1", 1, DENIED) + "\n").repeat(2000);
    assertEquals(hasSessionEnd(places.trace), false);
    Deno.writeTextFileSync(places.trace, filler + '{"event":"session_end"');
    assertEquals(hasSessionEnd(places.trace), false);
    const detailed = traceLine("session_end", "ses_1", 1, { ...END, list: new Array(60).fill("z".repeat(4000)) });
    Deno.writeTextFileSync(places.trace, `${filler}${detailed}\n`);
    assertEquals(hasSessionEnd(places.trace), true);
    Deno.writeTextFileSync(places.trace, filler + traceLine("denied", "ses_1", 1, { asked: '{"event":"session_end"' }));
    assertEquals(hasSessionEnd(places.trace), false);
  }));
