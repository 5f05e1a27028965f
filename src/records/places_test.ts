import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { CapsuleError, isId } from "../base/mod.ts";
import { createSession, type Home, listSessions, openHome, SessionLock, writePlan, writeResult } from "./mod.ts";

function withHome(run: (home: Home) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    run(openHome((name) => name === "BOLL_HOME" ? `${folder}/home` : undefined));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function namesBelow(root: string): string[] {
  return [...Deno.readDirSync(root)].flatMap((entry) =>
    entry.isDirectory
      ? [`${entry.name}/`, ...namesBelow(`${root}/${entry.name}`).map((name) => `${entry.name}/${name}`)]
      : [entry.name]
  ).sort();
}

Deno.test("createSession: the layout, all 0700, the lock held until close", () =>
  withHome((home) => {
    const places = createSession(home);
    assert(isId(places.id, "ses"));
    assertEquals(places.root, `${home.sessions}/${places.id}`);
    assertEquals(namesBelow(places.root), [
      "records/",
      "records/lock",
      "records/out/",
      "records/trace.jsonl",
      "runtime/",
      "runtime/delegations/",
      "runtime/logs/",
      "work/",
    ]);
    for (const path of [places.root, places.records, places.out, places.runtime, places.work]) {
      assertEquals(Deno.lstatSync(path).mode! & 0o777, 0o700, path);
    }
    assertEquals(SessionLock.tryTake(places.lockFile), undefined);
    places.close();
    places.close();
    using taken = SessionLock.tryTake(places.lockFile);
    assert(taken?.isHeld);
  }));

Deno.test("createSession: room for the ending is held while it runs, and given back with the lock", () =>
  withHome((home) => {
    const places = createSession(home);
    assert(Deno.statSync(places.lockFile).size >= 8192);
    places.close();
    assertEquals(Deno.statSync(places.lockFile).size, 0);
    places.close();
  }));

Deno.test("createSession: another work folder is used as it is, and none is made", () =>
  withHome((home) => {
    using places = createSession(home, { work: "/somewhere/else" });
    assertEquals(places.work, "/somewhere/else");
    assert(!namesBelow(places.root).includes("work/"));
  }));

Deno.test("createSession: each session is its own, and nothing is left under another name", () =>
  withHome((home) => {
    using first = createSession(home);
    using second = createSession(home);
    assertNotEquals(first.id, second.id);
    assertEquals([...Deno.readDirSync(home.sessions)].map((entry) => entry.name).sort(), [first.id, second.id]);
    assertEquals(listSessions(home), [first.id, second.id]);
  }));

Deno.test("createSession: a home that is gone is home.unwritable", () =>
  withHome((home) => {
    Deno.removeSync(home.sessions);
    assertEquals(assertThrows(() => createSession(home), CapsuleError).code, "home.unwritable");
    Deno.mkdirSync(home.sessions);
    createSession(home).close();
  }));

Deno.test("writePlan, writeResult: whole, 0600, replaced whole", () =>
  withHome((home) => {
    using places = createSession(home);
    writePlan(places, { capsule: "a" });
    writePlan(places, { capsule: "b" });
    writeResult(places, "answer");
    assertEquals(JSON.parse(Deno.readTextFileSync(places.plan)), { capsule: "b" });
    assertEquals(Deno.readTextFileSync(`${places.out}/result.txt`), "answer");
    assertEquals(Deno.lstatSync(places.plan).mode! & 0o777, 0o600);
    assertEquals(namesBelow(places.records), ["lock", "out/", "out/result.txt", "plan.json", "trace.jsonl"]);
  }));
