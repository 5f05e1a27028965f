import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { join } from "@std/path";
import { CapsuleError, newId } from "../../base/mod.ts";
import {
  createSession,
  findSession,
  type Home,
  listSessions,
  markCrashed,
  markIfCrashed,
  openHome,
  readSummary,
  readTrace,
  recordEnd,
  TraceWriter,
} from "../mod.ts";

const END = { status: "completed", exit_code: 0, ended_by: "guest", duration_ms: 1 } as const;

function withHome(run: (home: Home) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    run(openHome((name) => name === "BOLL_HOME" ? `${folder}/home` : undefined));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("listSessions: valid ids of real folders, oldest first, whatever else lies there", () =>
  withHome((home) => {
    assertEquals(listSessions(home), []);
    const ids = [1, 2, 3].map(() => {
      using places = createSession(home);
      return places.id;
    });
    for (const junk of ["ses_x", ".new-ses_1", "notes", "tsk_" + "0".repeat(32)]) {
      Deno.mkdirSync(`${home.sessions}/${junk}`);
    }
    Deno.writeTextFileSync(`${home.sessions}/${newId("ses")}`, "a file");
    Deno.symlinkSync("/etc", `${home.sessions}/${newId("ses")}`);
    assertEquals(listSessions(home), ids);
  }));

Deno.test("findSession: id, unique prefix, last; an ambiguous, short or unknown one is refused", () =>
  withHome((home) => {
    const refusal = (wanted: string) => {
      const error = assertThrows(() => findSession(home, wanted), CapsuleError);
      assertEquals(error.code, "records.not_found");
      return error.message;
    };
    assertStringIncludes(refusal("last"), "none exists yet");
    for (const id of ["ses_" + "a".repeat(32), "ses_" + "a".repeat(31) + "b", "ses_" + "c".repeat(32)]) {
      Deno.mkdirSync(`${home.sessions}/${id}/records`, { recursive: true });
    }
    assertEquals(findSession(home, "last").id, "ses_" + "c".repeat(32));
    assertEquals(findSession(home, "ses_cccc").id, "ses_" + "c".repeat(32));
    assertEquals(findSession(home, "cccc").id, "ses_" + "c".repeat(32));
    assertEquals(findSession(home, "a".repeat(31) + "b").id, "ses_" + "a".repeat(31) + "b");
    assertStringIncludes(refusal("aaaa"), "names 2 sessions: ses_aaaa");
    assertStringIncludes(refusal("ccc"), "no session");
    assertStringIncludes(refusal("../../../etc"), "no session");
    assertStringIncludes(refusal("\x1b[31m"), "\\u{1b}[31m");
  }));

Deno.test("markCrashed: marks the dead once, leaves the living and the ended", () =>
  withHome((home) => {
    const ended = createSession(home);
    using writer = new TraceWriter(ended);
    writer.append("session_end", END);
    ended.close();
    using living = createSession(home);
    const dead = createSession(home);
    dead.close();
    assertEquals(markCrashed(home, { now: () => 42 }), [dead.id]);
    assertEquals(markCrashed(home), []);
    assertEquals(readTrace(dead.trace).events, [{
      event: "session_end",
      ts: 42,
      session_id: dead.id,
      status: "crashed",
      exit_code: 1,
      ended_by: "crashed",
      duration_ms: 0,
      detail: "the supervisor ended without a record",
    }]);
    assertEquals([markIfCrashed(ended), markIfCrashed(living), markIfCrashed(dead)], ["ended", "running", "ended"]);
    assertEquals(readTrace(ended.trace).events.length, 1);
    assertEquals(readTrace(living.trace).events, []);
  }));

Deno.test("markIfCrashed: a torn last line stays alone, the ending is a line of its own", () =>
  withHome((home) => {
    const dead = createSession(home);
    Deno.writeTextFileSync(dead.trace, '{"event":"denied","ts":1,"sess');
    dead.close();
    assertEquals(markIfCrashed(dead), "crashed");
    const { events, problems } = readTrace(dead.trace);
    assertEquals(events.map(({ event }) => event), ["session_end"]);
    assertEquals(problems, [{ line: 1, reason: "not JSON" }]);
  }));

Deno.test("markIfCrashed: a session that ends while it is looked at is not marked", () =>
  withHome((home) => {
    const places = createSession(home);
    assertEquals(markIfCrashed(places), "running");
    using writer = new TraceWriter(places);
    writer.append("session_end", END);
    places.close();
    assertEquals(markIfCrashed(places), "ended");
    assertEquals(readTrace(places.trace).events.length, 1);
  }));

Deno.test("markCrashed: a session that cannot be read does not hide the others", () =>
  withHome((home) => {
    const broken = createSession(home);
    broken.close();
    Deno.removeSync(broken.trace);
    Deno.mkdirSync(broken.trace);
    const dead = createSession(home);
    dead.close();
    assertEquals(markCrashed(home), [dead.id]);
    assert(Deno.lstatSync(broken.trace).isDirectory);
  }));

Deno.test("markCrashed: a supervisor killed hard is marked, its lock given back by the kernel", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    const home = openHome((name) => name === "BOLL_HOME" ? `${folder}/home` : undefined);
    const program = `import { createSession, openHome } from ${
      JSON.stringify(new URL("../mod.ts", import.meta.url).href)
    };
      const places = createSession(openHome(() => ${JSON.stringify(home.root)}));
      console.log(places.id);
      setInterval(() => {}, 1000);`;
    const config = join(import.meta.dirname!, "../../../deno.json");
    await Deno.writeTextFile(`${folder}/supervisor.ts`, program);
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--config", config, `${folder}/supervisor.ts`],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    const id = new TextDecoder().decode((await reader.read()).value).trim();
    assertEquals(markCrashed(home), []);
    child.kill("SIGKILL");
    await reader.cancel();
    await child.status;
    assertEquals(markCrashed(home), [id]);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("recordEnd: an ending for a session that has none, whole behind a torn line; the first one stays", () =>
  withHome((home) => {
    using places = createSession(home);
    Deno.writeTextFileSync(places.trace, `{"event":"walls","ts":1,"session_id":"${places.id}"}\n{"event":"den`);
    const killed = { status: "crashed", exit_code: 1, ended_by: "stuck", duration_ms: 7, detail: "no pong" } as const;
    assertEquals(recordEnd(places, killed), true);
    assertEquals(recordEnd(places, END), false);
    const { events } = readTrace(places.trace);
    assertEquals(events.map(({ event, ended_by }) => [event, ended_by]), [["walls", undefined], [
      "session_end",
      "stuck",
    ]]);
    assertEquals(readSummary(places)?.ended_by, "stuck");
  }));
