import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { newId } from "../../base/mod.ts";
import {
  createSession,
  type Home,
  openHome,
  type SessionEnd,
  type SessionStart,
  TraceWriter,
} from "../../records/mod.ts";
import { captureContext } from "../context_fixture.ts";
import { main } from "../main.ts";

const START: SessionStart = {
  capsule: { name: "word-count", kind: "folder", path: "/capsules/word-count/capsule.jsonc" },
  digest: "sha256:00ff",
  containment: { achieved: "advisory" },
  grants: {},
};
const END: SessionEnd = { status: "completed", exit_code: 0, ended_by: "guest", duration_ms: 1250 };
const FAILED: SessionEnd = { status: "failed", exit_code: 1, ended_by: "trap", duration_ms: 3 };
const STARTED_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

type Boll = (...argv: string[]) => Promise<{ exitCode: number; stdout: string; stderr: string }>;

async function withHome(run: (home: Home, boll: Boll) => Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync({ dir: "/tmp", prefix: "b" });
  Deno.mkdirSync(`${folder}/run`, { mode: 0o700 });
  const variables: Record<string, string> = { BOLL_HOME: `${folder}/home`, XDG_RUNTIME_DIR: `${folder}/run` };
  try {
    await run(openHome((name) => variables[name]), async (...argv) => {
      const captured = captureContext({ variables });
      const exitCode = await main(argv, captured.context);
      return { exitCode, stdout: captured.stdout(), stderr: captured.stderr() };
    });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function record(home: Home, end?: SessionEnd, capsule = "word-count") {
  const places = createSession(home);
  using writer = new TraceWriter(places, { now: () => STARTED_MS });
  writer.append("session_start", { ...START, capsule: { ...START.capsule, name: capsule } });
  if (end !== undefined) writer.append("session_end", end);
  return places;
}

Deno.test("boll sessions: newest first, running and crashed told apart, foreign names made safe", () =>
  withHome(async (home, boll) => {
    assertEquals(await boll("sessions"), { exitCode: 0, stdout: "No sessions.\n", stderr: "" });
    const dead = record(home);
    dead.close();
    const failed = record(home, FAILED, "evil\x1b[2J");
    failed.close();
    using running = record(home);
    const ended = record(home, END);
    ended.close();
    const { exitCode, stdout, stderr } = await boll("sessions");
    assertEquals([exitCode, stderr], [0, ""]);
    assertEquals(
      stdout,
      `SESSION                               STARTED              CAPSULE        STATUS     ENDED BY  DURATION
${ended.id}  2026-01-02 03:04:05  word-count     completed  guest     1.2 s
${running.id}  2026-01-02 03:04:05  word-count     running
${failed.id}  2026-01-02 03:04:05  evil\\u{1b}[2J  failed     trap      3 ms
${dead.id}  2026-01-02 03:04:05  word-count     crashed    crashed
`,
    );
    assertStringIncludes(Deno.readTextFileSync(dead.trace), '"ended_by":"crashed"');
  }));

Deno.test("boll sessions: of sessions from the future, one crashed before the clock was set back, none has a span below zero", () =>
  withHome(async (home, boll) => {
    const laterMs = Date.now() + 86_400_000;
    const places = [END, undefined].map((end) => {
      const later = createSession(home);
      using writer = new TraceWriter(later, { now: () => laterMs });
      writer.append("session_start", START);
      if (end !== undefined) writer.append("session_end", end);
      return later;
    });
    using living = createSession(home);
    for (const later of places) later.close();
    const { exitCode, stdout } = await boll("sessions");
    const day = new Date(laterMs).toISOString().slice(0, 10);
    assertEquals([exitCode, stdout.split(day).length - 1, stdout.includes(" -")], [0, 2, false]);
    assertEquals([stdout.includes("1.2 s"), stdout.includes("crashed"), stdout.includes(living.id)], [
      true,
      true,
      true,
    ]);
    assertEquals((await boll("ps")).exitCode, 0);
  }));

Deno.test("boll sessions: --limit, --status and --json choose; those not shown are marked all the same", () =>
  withHome(async (home, boll) => {
    const dead = record(home);
    dead.close();
    const failed = record(home, FAILED);
    failed.close();
    const ended = record(home, END);
    ended.close();
    const one = (await boll("sessions", "--limit", "1")).stdout;
    assertEquals([one.includes(ended.id), one.includes(failed.id)], [true, false]);
    assertStringIncludes(one, "--limit all shows every one");
    assertStringIncludes(Deno.readTextFileSync(dead.trace), '"ended_by":"crashed"');
    const json = (await boll("sessions", "--status", "failed", "--json")).stdout.trimEnd().split("\n");
    assertEquals(json.map((line) => JSON.parse(line)), [{
      session_id: failed.id,
      started_ms: STARTED_MS,
      capsule: "word-count",
      ...FAILED,
    }]);
    assertEquals((await boll("sessions", "--limit", "all", "--json")).stdout.trimEnd().split("\n").length, 3);
    for (const argv of [["--limit", "0"], ["--limit", "x"], ["--status", "nonsense"]]) {
      assertEquals((await boll("sessions", ...argv)).exitCode, 2);
    }
    assertStringIncludes((await boll("sessions", "--status", "faild")).stderr, "did you mean failed?");
  }));

Deno.test("boll sessions: junk, links and a lying summary hide nothing and are not followed", () =>
  withHome(async (home, boll) => {
    const ended = record(home, END);
    ended.close();
    for (const junk of ["{", "[]", '{"session_id":"ses_x","status":"failed"}', "x".repeat(10_000)]) {
      Deno.writeTextFileSync(ended.summary, junk);
      const { stdout } = await boll("sessions", "--json");
      assertEquals(JSON.parse(stdout).duration_ms, END.duration_ms);
      assertEquals(JSON.parse(Deno.readTextFileSync(ended.summary)).session_id, ended.id);
    }
    Deno.removeSync(ended.summary);
    Deno.symlinkSync("/etc/hostname", ended.summary);
    assertEquals(JSON.parse((await boll("sessions", "--json")).stdout).status, "completed");
    assert(Deno.lstatSync(ended.summary).isFile);
    const outside = `${home.root}/outside`;
    Deno.mkdirSync(outside);
    const linked = newId("ses");
    Deno.mkdirSync(`${home.sessions}/${linked}`);
    Deno.symlinkSync(outside, `${home.sessions}/${linked}/records`);
    const lines = (await boll("sessions", "--json")).stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(lines.map(({ session_id, status }) => [session_id, status]), [
      [linked, "unreadable"],
      [ended.id, "completed"],
    ]);
    assertEquals([...Deno.readDirSync(outside)], []);
  }));

Deno.test("boll rm: ended sessions go, each once; an unknown or running one is refused, and then none goes", () =>
  withHome(async (home, boll) => {
    const first = record(home, END);
    first.close();
    const second = record(home);
    second.close();
    const running = record(home);
    const refused = await boll("rm", first.id, running.id);
    assertEquals([refused.exitCode, refused.stdout], [1, ""]);
    assertStringIncludes(refused.stderr, `${running.id} is running; end it first`);
    const several = await boll("rm", first.id, running.id, "nosuchsession");
    assertStringIncludes(several.stderr, "found 2 problems, removed none");
    assertEquals((await boll("rm", first.id, "nosuchsession")).exitCode, 2);
    assertEquals((await boll("rm")).exitCode, 2);
    assertEquals(await boll("rm", first.id, second.id, first.id), {
      exitCode: 0,
      stdout: `removed ${first.id}\nremoved ${second.id}\n`,
      stderr: "",
    });
    assertEquals([...Deno.readDirSync(home.sessions)].map(({ name }) => name), [running.id]);
    running.close();
    assertEquals((await boll("rm", "last")).exitCode, 0);
    assertEquals([...Deno.readDirSync(home.sessions)], []);
  }));

Deno.test("boll gc: says what went, as text and as JSON; a dry run removes nothing", () =>
  withHome(async (home, boll) => {
    record(home, END).close();
    Deno.mkdirSync(`${home.sessions}/.gone-x`);
    const dry = await boll("gc", "--keep", "0", "--dry-run");
    assertEquals([dry.exitCode, dry.stderr], [0, ""]);
    assertStringIncludes(dry.stdout, "would remove 1 session (");
    assertStringIncludes(dry.stdout, "would remove 1 leftover (0 bytes), 0 maybe in use\n");
    assertEquals([...Deno.readDirSync(home.sessions)].length, 2);
    const report = JSON.parse((await boll("gc", "--keep", "0", "--json")).stdout);
    assertEquals([report.dry_run, report.sessions.removed, report.leftovers.removed], [false, 1, 1]);
    assertEquals(
      (await boll("gc")).stdout,
      "removed 0 sessions, 0 kept\nremoved 0 cached components, 0 kept\nremoved 0 temporary folders, 0 in use\n" +
        "removed 0 leftovers, 0 maybe in use\n",
    );
    for (const argv of [["--keep", "-1"], ["--keep", "x"], ["--older-than", "1y"], ["--older-than", "5"]]) {
      assertEquals((await boll("gc", ...argv)).exitCode, 2);
    }
    for (const age of ["0", "90s", "30m", "12h", "30d"]) {
      assertEquals((await boll("gc", "--older-than", age, "--dry-run")).exitCode, 0);
    }
  }));

Deno.test("boll logs: each log by name, made safe; the end of a long one, all with --all; none is said", () =>
  withHome(async (home, boll) => {
    const session = record(home, END);
    session.close();
    assertEquals(await boll("logs"), { exitCode: 0, stdout: "", stderr: `boll: ${session.id} has no logs\n` });
    const folder = `${session.runtime}/logs`;
    Deno.writeTextFileSync(`${folder}/serve.log`, "one\n\x1b[2Jtwo é");
    assertEquals((await boll("logs")).stdout, "one\n\\u{1b}[2Jtwo é\n");
    Deno.writeTextFileSync(`${folder}/a.log`, "first\n");
    Deno.symlinkSync("/etc/hostname", `${folder}/link.log`);
    Deno.writeTextFileSync(`${folder}/other.txt`, "no");
    assertEquals(
      (await boll("logs", session.id)).stdout,
      "==> a.log <==\nfirst\n\n==> serve.log <==\none\n\\u{1b}[2Jtwo é\n",
    );
    Deno.removeSync(`${folder}/a.log`);
    const line = "é".repeat(49) + "x\n";
    Deno.writeTextFileSync(`${folder}/serve.log`, "start\n" + line.repeat(20_000));
    const tail = await boll("logs");
    assertEquals(tail.stdout, line.repeat(tail.stdout.length / line.length));
    assertStringIncludes(tail.stderr, "of serve.log are not shown; --all shows everything");
    const all = await boll("logs", "--all");
    assertEquals([all.stdout.startsWith("start\n"), all.stdout.length, all.stderr], [
      true,
      6 + line.length * 20_000,
      "",
    ]);
    Deno.removeSync(session.runtime, { recursive: true });
    Deno.symlinkSync("/tmp", session.runtime);
    assertStringIncludes((await boll("logs")).stderr, "has no logs");
  }));
