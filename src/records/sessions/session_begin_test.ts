import { assertEquals } from "@std/assert";
import { openHome } from "../folders/home.ts";
import { createSession, writePlan } from "../places.ts";
import { findSessionBegin } from "./session_begin.ts";
import { startedMsOf } from "./summary.ts";

Deno.test("findSessionBegin: what a session said first, else its plan; another's plan, a link and junk say nothing", () => {
  const root = Deno.makeTempDirSync({ prefix: "boll-begin-" });
  try {
    using places = createSession(openHome((name) => name === "BOLL_HOME" ? `${root}/home` : undefined));
    assertEquals(findSessionBegin(places), undefined);
    const [capsule, grants] = [{ name: "worker", version: "0.1.0" }, { spawn: [] }];
    const session = { role: "command", spawned_by: "ses_1", delegation_id: "dlg_1" };
    writePlan(places, { session_id: places.id, capsule, grants, session });
    const planned = { ts: startedMsOf(places.id), session_id: places.id, capsule, grants };
    const expected = { event: "session_start", ...planned, spawned_by: "ses_1", delegation_id: "dlg_1" };
    assertEquals(findSessionBegin(places), expected);
    Deno.writeTextFileSync(places.trace, `{"event":"session_end","ts":1,"session_id":"${places.id}"}\n`);
    assertEquals(findSessionBegin(places), expected);
    Deno.renameSync(places.plan, `${root}/plan.json`);
    Deno.symlinkSync(`${root}/plan.json`, places.plan);
    assertEquals(findSessionBegin(places), undefined);
    Deno.removeSync(places.plan);
    for (const junk of ["", "null", "7", `{"session_id":"ses_other"}`, " ".repeat(2 ** 20) + "{}"]) {
      Deno.writeTextFileSync(places.plan, junk);
      assertEquals(findSessionBegin(places), undefined);
    }
    const said = { event: "session_start", ts: 1, session_id: places.id, capsule: { name: "said" } };
    Deno.writeTextFileSync(places.trace, `${JSON.stringify(said)}\n`);
    assertEquals(findSessionBegin(places), said);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
