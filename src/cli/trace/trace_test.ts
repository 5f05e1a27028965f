import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  createSession,
  type Home,
  openHome,
  type SessionPlaces,
  type SessionStart,
  TraceWriter,
} from "../../records/mod.ts";
import { captureContext } from "../context_fixture.ts";
import { main } from "../main.ts";

const START: SessionStart = {
  capsule: { name: "word-count", kind: "folder", path: "/capsules/word-count/capsule.jsonc", version: "0.1.0" },
  digest: "sha256:00ff",
  containment: { achieved: "advisory", reasons: ["no kernel wall here"] },
  grants: {
    fs: { work: "rw", mounts: [{ guest: "/data", mode: "ro", host: "/docs" }] },
    env: ["LANG"],
    net: ["https://api.example.com", "listen:8080"],
    spawn: ["worker", "\x1b[31mreader"],
    stdio: true,
    clocks: true,
    random: false,
    limits: { memory_mb: 64, deadline_ms: 5000 },
  },
};

const DENIED = {
  wall: "imports",
  grant: "fs",
  asked: "open \x1b]0;/etc/shadow\x07",
  allow: { flag: "--mount HOST:/etc", manifest: "grants.fs.mounts" },
} as const;

const END = { status: "completed", exit_code: 0, ended_by: "guest", duration_ms: 250 } as const;

async function withHome(run: (home: Home, boll: Boll) => Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync();
  const variables = { BOLL_HOME: `${folder}/home` };
  try {
    await run(openHome((name) => (variables as Record<string, string>)[name]), async (...argv) => {
      const captured = captureContext({ variables });
      const exitCode = await main(argv, captured.context);
      return { exitCode, stdout: captured.stdout(), stderr: captured.stderr() };
    });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

type Boll = (...argv: string[]) => Promise<{ exitCode: number; stdout: string; stderr: string }>;

function record(home: Home, ends: boolean): SessionPlaces {
  const places = createSession(home);
  let now = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
  using writer = new TraceWriter(places, { now: () => now += 125 });
  writer.append("session_start", START);
  writer.append("walls", { permissions: "lists", landlock: true, landlock_abi: 7, seccomp: true });
  writer.append("denied", DENIED);
  if (ends) writer.append("session_end", END);
  return places;
}

Deno.test("boll trace show: the newest session as a timeline, foreign text made safe", () =>
  withHome(async (home, boll) => {
    record(home, true).close();
    const session = record(home, true);
    session.close();
    const { exitCode, stdout, stderr } = await boll("trace", "show");
    assertEquals([exitCode, stderr], [0, ""]);
    assertEquals(
      stdout,
      `Session ${session.id}
  started      2026-01-02 03:04:05.131 UTC
  capsule      word-count 0.1.0
  path         /capsules/word-count/capsule.jsonc
  digest       sha256:00ff
  containment  advisory (no floor asked)
               no kernel wall here
  grants       stdio, clocks
               /workdir rw
               /data ro = /docs
               env LANG
               net https://api.example.com, listen:8080
               spawn worker, \\u{1b}[31mreader
               memory 64 MiB, deadline 5000 ms
  trace        ${session.trace}

   +0.125 s  walls            imports, permissions (narrowed lists), process, kernel (Landlock ABI 7, seccomp)
   +0.250 s  denied           open \\u{1b}]0;/etc/shadow\\u{7} (wall: imports, grant: fs)
                              would allow it: --mount HOST:/etc
                              or in the manifest: grants.fs.mounts
   +0.375 s  session_end      completed, exit 0, ended by guest after 250 ms
`,
    );
    assertEquals((await boll("trace", "show", session.id)).stdout, stdout);
    assertEquals((await boll("trace", "show", "last")).stdout, stdout);
  }));

Deno.test("boll trace show: the last is what was run last, and what that started says by whom it was", () =>
  withHome(async (home, boll) => {
    const root = record(home, true);
    root.close();
    using child = createSession(home);
    using writer = new TraceWriter(child);
    const delegation_id = `dlg_${"0".repeat(32)}`;
    writer.append("session_start", { ...START, spawned_by: root.id, delegation_id });
    assertStringIncludes((await boll("trace", "show")).stdout, `Session ${root.id}\n`);
    const { stdout } = await boll("trace", "show", child.id);
    assertStringIncludes(stdout, `Session ${child.id}\n`);
    assertStringIncludes(stdout, `started by   ${root.id} (${delegation_id})\n`);
  }));

Deno.test("boll trace show: a clock that is set back meanwhile makes no event older than the start", () =>
  withHome(async (home, boll) => {
    using places = createSession(home);
    const hours = [12, 13, 2, 3];
    using writer = new TraceWriter(places, { now: () => Date.UTC(2026, 0, 2, hours.shift()) });
    writer.append("session_start", START);
    for (const asked of ["first", "second"]) writer.append("denied", { ...DENIED, asked });
    writer.append("session_end", END);
    const { stdout } = await boll("trace", "show");
    const times = [...stdout.matchAll(/^ *(\S+) s {2}(\S+)/gm)].map(([, time, event]) => [time, event]);
    assertEquals(times, [["+3600.000", "denied"], ["+0.000", "denied"], ["+0.000", "session_end"]]);
    assertStringIncludes(stdout, "after 250 ms");
  }));

Deno.test("boll trace show --json: the recorded lines, junk told on stderr", () =>
  withHome(async (home, boll) => {
    const session = record(home, true);
    session.close();
    const recorded = Deno.readTextFileSync(session.trace);
    assertEquals(await boll("trace", "show", "--json"), { exitCode: 0, stdout: recorded, stderr: "" });
    Deno.writeTextFileSync(session.trace, recorded + "torn\x1b[2J");
    const { stdout, stderr } = await boll("trace", "show", "--json");
    assertEquals([stdout, stderr], [recorded, "boll: warning: line 5 of the trace is skipped: torn\n"]);
    assertStringIncludes((await boll("trace", "show")).stdout, "line 5 of the trace is skipped: torn");
  }));

Deno.test("boll trace show: a running session says so and stays; a dead one is marked crashed", () =>
  withHome(async (home, boll) => {
    const session = record(home, false);
    const before = Deno.readTextFileSync(session.trace);
    assertStringIncludes((await boll("trace", "show")).stdout, "still running\n");
    assertEquals(Deno.readTextFileSync(session.trace), before);
    session.close();
    const { exitCode, stdout } = await boll("trace", "show");
    assertEquals(exitCode, 0);
    assertStringIncludes(stdout, "crashed, exit 1, ended by crashed after 0 ms\n");
    assertStringIncludes(stdout, "the supervisor ended without a record");
  }));

Deno.test("boll trace show: other crashed sessions are marked before one is shown", () =>
  withHome(async (home, boll) => {
    const dead = record(home, false);
    dead.close();
    record(home, true).close();
    await boll("trace", "show", "last");
    assertStringIncludes(Deno.readTextFileSync(dead.trace), '"ended_by":"crashed"');
  }));

Deno.test("boll trace show: fields of any type are shown or left out, never an exception", () =>
  withHome(async (home, boll) => {
    const session = record(home, true);
    session.close();
    const odd = [
      { event: "session_start", capsule: 1, containment: [], grants: "x", digest: null },
      { event: "denied", asked: { a: 1 }, allow: "flag" },
      { event: "x\x1b", y: [1, "\u202e"] },
      { event: "session_end", status: 7, dropped_events: { denied: 5, "\x07": 1 } },
    ];
    const lines = odd.map((fields, i) => JSON.stringify({ ...fields, ts: i === 0 ? 9e18 : i, session_id: "s" }));
    Deno.writeTextFileSync(session.trace, lines.join("\n") + "\n");
    const { exitCode, stdout } = await boll("trace", "show");
    assertEquals(exitCode, 0);
    assertStringIncludes(stdout, "5 more denied events were counted, not recorded");
    // deno-lint-ignore no-control-regex
    assert(!/[\x00-\x09\x0b-\x1f\u202e]/.test(stdout));
  }));

Deno.test("boll trace: a missing session, action or trace is refused", () =>
  withHome(async (home, boll) => {
    const empty = await boll("trace", "show");
    assertEquals([empty.exitCode, empty.stdout], [2, ""]);
    assertStringIncludes(empty.stderr, "none exists yet");
    assertEquals((await boll("trace")).exitCode, 2);
    assertStringIncludes((await boll("trace", "shw")).stderr, "did you mean show?");
    assertStringIncludes((await boll("trace", "delete")).stderr, "wanted show");
    record(home, true).close();
    assertEquals((await boll("trace", "show", "nosuchsession")).exitCode, 2);
    assertEquals((await boll("trace", "show", "last", "more")).exitCode, 2);
  }));

Deno.test("boll trace follow: events as they come until the session ends, as text and as JSON", () =>
  withHome(async (home, boll) => {
    const session = record(home, false);
    const following = boll("trace", "follow", "--json");
    using writer = new TraceWriter(session);
    writer.append("session_end", END);
    session.close();
    const { exitCode, stdout, stderr } = await following;
    assertEquals([exitCode, stdout, stderr], [0, Deno.readTextFileSync(session.trace), ""]);
    const ended = await boll("trace", "follow", session.id);
    assertEquals([ended.exitCode, ended.stdout], [0, (await boll("trace", "show")).stdout]);
  }));

Deno.test("boll trace follow: an interruption ends it with 130", () =>
  withHome(async (home) => {
    using session = record(home, false);
    const captured = captureContext({ variables: { BOLL_HOME: home.root } });
    const controller = new AbortController();
    const watchInterrupt = () => controller.signal;
    const following = main(["trace", "follow", session.id], { ...captured.context, watchInterrupt });
    controller.abort();
    assertEquals(await following, 130);
    assertEquals(captured.stdout().includes("no ending recorded"), false);
  }));

Deno.test("boll trace show, follow: a long trace shows its two ends and says so; --all shows everything", () =>
  withHome(async (home, boll) => {
    const session = record(home, false);
    const event = (ts: number) => JSON.stringify({ event: "x", ts, session_id: session.id, text: "y".repeat(5000) });
    const lines = Array.from({ length: 2000 }, (_, i) => event(i + 1)).join("\n");
    Deno.writeTextFileSync(session.trace, `${lines}\n`, { append: true });
    using writer = new TraceWriter(session);
    writer.append("session_end", END);
    session.close();
    for (const action of ["show", "follow"]) {
      const text = await boll("trace", action);
      assertEquals([text.exitCode, text.stdout.split(" x  ").length - 1], [0, 197 + 199]);
      assertStringIncludes(text.stdout, "MB of the trace are not shown; --all shows everything\n");
      assertStringIncludes(text.stdout, "session_end");
      const json = await boll("trace", action, "--json");
      assertEquals(json.stdout.trimEnd().split("\n").length, 400);
      assertStringIncludes(json.stderr, "are not shown; --all shows everything\n");
      const all = await boll("trace", action, "--json", "--all");
      assertEquals([all.stdout === Deno.readTextFileSync(session.trace), all.stderr], [true, ""]);
    }
  }));
