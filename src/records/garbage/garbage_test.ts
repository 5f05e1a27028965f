import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { newId } from "../../base/mod.ts";
import {
  collectGarbage,
  type CollectGarbageOptions,
  FolderLock,
  holdCacheEntry,
  openHome,
  startedMsOf,
} from "../mod.ts";
import { createSession, type Home, isRunning, listSessions, markCrashed, removeSession, TraceWriter } from "../mod.ts";
import { makeTemporaryFolder, runtimeFolder, writePlan } from "../mod.ts";

const END = { status: "completed", exit_code: 0, ended_by: "guest", duration_ms: 1000 } as const;
const DAY_MS = 86_400_000;
const KEY = "ab".repeat(32);

interface Bed {
  readonly home: Home;
  readonly folder: string;
  readonly runtime: string;
  gc(options?: Partial<CollectGarbageOptions>): ReturnType<typeof collectGarbage>;
}

function withBed(run: (bed: Bed) => void): void {
  const folder = Deno.makeTempDirSync({ dir: "/tmp", prefix: "b" });
  try {
    const home = openHome((name) => name === "BOLL_HOME" ? `${folder}/home` : undefined);
    const runtime = `${folder}/run/boll`;
    Deno.mkdirSync(runtime, { recursive: true, mode: 0o700 });
    run({ home, folder, runtime, gc: (options) => collectGarbage(home, { runtimeFolder: runtime, ...options }) });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function endedSession(home: Home): string {
  using places = createSession(home);
  using trace = new TraceWriter(places);
  trace.append("session_end", END);
  return places.id;
}

/** Makes folders in folders, `rounds` times 300, far longer than a path may be. */
function nestDeeply(folder: string, rounds: number): void {
  Deno.mkdirSync(`${folder}/nest`);
  for (let round = 0; round < rounds; round++) {
    const chain = `${folder}/chain${"/d".repeat(300)}`;
    Deno.mkdirSync(chain, { recursive: true });
    Deno.renameSync(`${folder}/nest`, `${chain}/nest`);
    Deno.renameSync(`${folder}/chain`, `${folder}/nest`);
  }
}

const namesIn = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
const inDays = (days: number) => () => Date.now() + days * DAY_MS;

Deno.test("collectGarbage: ended sessions go by age, counted from their end; young and running ones stay", () =>
  withBed(({ home, gc }) => {
    const id = endedSession(home);
    using living = createSession(home);
    const ageMs = 10 * DAY_MS;
    const endMs = startedMsOf(id) + END.duration_ms;
    assertEquals(gc({ olderThanMs: ageMs, now: () => endMs + ageMs - 1 }).sessions.removed, 0);
    assertEquals(gc({ olderThanMs: ageMs, now: () => endMs + ageMs, dryRun: true }).sessions.removed, 1);
    assertEquals(listSessions(home), [id, living.id]);
    const { sessions } = gc({ olderThanMs: ageMs, now: () => endMs + ageMs });
    assertEquals([sessions.removed, sessions.running], [1, 1]);
    assertEquals(listSessions(home), [living.id]);
    assertEquals(gc({ olderThanMs: 0, now: inDays(1) }).sessions, { removed: 0, kept: 1, bytes: 0, running: 1 });
    assert(Deno.lstatSync(living.work).isDirectory);
  }));

Deno.test("collectGarbage: without rules 30 days; keep alone is a number, with an age both must hold", () =>
  withBed(({ home, gc }) => {
    const ids = [1, 2, 3, 4].map(() => endedSession(home));
    assertEquals(gc().sessions.removed, 0);
    assertEquals(gc({ now: inDays(29) }).sessions.removed, 0);
    assertEquals(gc({ keep: 1, olderThanMs: DAY_MS }).sessions.removed, 0);
    assertEquals(gc({ keep: 3 }).sessions.removed, 1);
    assertEquals(listSessions(home), ids.slice(1));
    assertEquals(gc({ keep: 2, olderThanMs: DAY_MS, now: inDays(2) }).sessions.removed, 1);
    assertEquals(gc({ now: inDays(31) }).sessions.removed, 2);
    assertEquals(listSessions(home), []);
  }));

Deno.test("collectGarbage: what is from the future, since the clock was set back, is as young as can be", () =>
  withBed(({ home, gc }) => {
    const ids = [1, 2].map(() => endedSession(home));
    Deno.mkdirSync(`${home.cache}/${KEY}`);
    const half = `${home.sessions}/.new-${newId("ses")}`;
    Deno.mkdirSync(half);
    const { sessions, cache, leftovers } = gc({ olderThanMs: 0, now: inDays(-1) });
    assertEquals([sessions.removed, cache.removed, leftovers.removed], [0, 0, 0]);
    assertEquals([listSessions(home), gc({ keep: 1, now: inDays(-1) }).sessions.removed], [ids, 1]);
    assertEquals(listSessions(home), ids.slice(1));
    assertEquals(gc({ olderThanMs: 0, now: inDays(1) }).sessions.removed, 1);
  }));

Deno.test("collectGarbage: links in what goes are removed and not followed; folders made read-only go too", () =>
  withBed(({ home, folder, gc }) => {
    Deno.writeTextFileSync(`${folder}/precious`, "x");
    Deno.mkdirSync(`${folder}/outside`);
    Deno.writeTextFileSync(`${folder}/outside/file`, "x");
    const work = `${home.sessions}/${endedSession(home)}/work`;
    Deno.symlinkSync(`${folder}/precious`, `${work}/link`);
    Deno.symlinkSync(`${folder}/outside`, `${work}/folder`);
    Deno.mkdirSync(`${work}/a/b`, { recursive: true });
    Deno.writeTextFileSync(`${work}/a/b/c`, "12345");
    Deno.chmodSync(`${work}/a/b`, 0o500);
    nestDeeply(work, 10);
    const { sessions, failed } = gc({ keep: 0 });
    assertEquals([sessions.removed, failed], [1, []]);
    assert(sessions.bytes > 5 && sessions.bytes < 1000);
    assertEquals(namesIn(home.sessions), []);
    assertEquals([namesIn(`${folder}/outside`), Deno.readTextFileSync(`${folder}/precious`)], [["file"], "x"]);
  }));

Deno.test("collectGarbage: junk in the sessions folder stays, is not followed, and hides nothing", () =>
  withBed(({ home, folder, gc }) => {
    const link = newId("ses");
    Deno.symlinkSync(folder, `${home.sessions}/${link}`);
    Deno.writeTextFileSync(`${home.sessions}/notes`, "mine");
    Deno.mkdirSync(`${home.sessions}/ses_short`);
    const empty = newId("ses");
    Deno.mkdirSync(`${home.sessions}/${empty}`);
    const linked = newId("ses");
    Deno.mkdirSync(`${home.sessions}/${linked}`);
    Deno.mkdirSync(`${folder}/elsewhere`);
    Deno.symlinkSync(`${folder}/elsewhere`, `${home.sessions}/${linked}/records`);
    const id = endedSession(home);
    assertEquals(markCrashed(home), []);
    assertEquals(namesIn(`${folder}/elsewhere`), []);
    assertEquals(gc({ keep: 0 }).sessions.removed, 3);
    assertEquals(namesIn(home.sessions), [link, "notes", "ses_short"].sort());
    assertEquals([removeSession(home, id), removeSession(home, link)], ["absent", "removed"]);
    assert(Deno.lstatSync(home.cache).isDirectory);
  }));

Deno.test("collectGarbage: half-removed folders go at once, half-made ones when they are old and nobody's", () =>
  withBed(({ home, folder, gc }) => {
    Deno.symlinkSync(folder, `${home.sessions}/.gone-link`);
    Deno.mkdirSync(`${home.sessions}/.gone-ses/work`, { recursive: true });
    Deno.mkdirSync(`${home.cache}/.gone-key`);
    assertEquals(gc().leftovers.removed, 3);
    const half = `.new-${newId("ses")}`;
    const made = [".build-x", `.${newId("req")}.tmp`];
    Deno.mkdirSync(`${home.sessions}/${half}/records`, { recursive: true });
    for (const name of [...made, ".other"]) Deno.mkdirSync(`${home.cache}/${name}`);
    assertEquals(gc().leftovers, { removed: 0, kept: 3, bytes: 0 });
    assertEquals(gc({ now: inDays(-1) }).leftovers.removed, 0);
    const lock = Deno.openSync(`${home.sessions}/${half}/records/lock`, { write: true, create: true });
    lock.lockSync(true);
    assertEquals(gc({ now: inDays(1) }).leftovers, { removed: 2, kept: 1, bytes: 0 });
    lock.close();
    assertEquals(gc({ now: inDays(1) }).leftovers.removed, 1);
    assertEquals([namesIn(home.sessions), namesIn(home.cache)], [[], [".other"]]);
  }));

Deno.test("collectGarbage: a cached component goes when unused for long, not while a run holds it or a plan names it", () =>
  withBed(({ home, gc }) => {
    const make = () => {
      Deno.mkdirSync(`${home.cache}/${KEY}`);
      Deno.writeTextFileSync(`${home.cache}/${KEY}/glue.js`, "12345");
    };
    make();
    assertEquals(gc({ now: inDays(29) }).cache, { removed: 0, kept: 1, bytes: 0 });
    const held = holdCacheEntry(`${home.cache}/${KEY}`)!;
    assertEquals(gc({ now: inDays(31) }).cache.removed, 0);
    const second = holdCacheEntry(`${home.cache}/${KEY}`)!;
    held.release();
    assertEquals(gc({ now: inDays(31) }).cache.removed, 0);
    second.release();
    const planned = createSession(home);
    writePlan(planned, { tools: { other: { cache_key: "none" }, one: { cache_key: KEY } } });
    planned.close();
    assertEquals(gc({ keep: 1, olderThanMs: 0, now: inDays(31) }).cache.removed, 0);
    assertEquals(gc({ keep: 0, olderThanMs: 0, now: inDays(31), dryRun: true }).cache.removed, 1);
    assertEquals(gc({ keep: 0, olderThanMs: 0, now: inDays(31) }).cache, { removed: 1, kept: 0, bytes: 5 });
    assertEquals([namesIn(home.cache), holdCacheEntry(`${home.cache}/${KEY}`)], [[], undefined]);
    make();
    const running = createSession(home);
    writePlan(running, { component: { cache_key: KEY } });
    Deno.utimeSync(`${home.cache}/${KEY}`, 0, 0);
    assertEquals(gc().cache.removed, 0);
    running.close();
    markCrashed(home);
    assertEquals(gc({ dryRun: true }).cache.removed, 1);
    Deno.utimeSync(`${home.cache}/${KEY}`, 0, 0);
    holdCacheEntry(`${home.cache}/${KEY}`)!.release();
    assertEquals(gc().cache.removed, 0);
  }));

Deno.test("collectGarbage: a temporary folder goes when its maker is gone, and only then", () =>
  withBed(({ folder, runtime, gc }) => {
    const living = makeTemporaryFolder(
      runtimeFolder((name) => name === "XDG_RUNTIME_DIR" ? `${folder}/run` : undefined),
    );
    Deno.mkdirSync(`${runtime}/0123abcd/x`, { recursive: true });
    for (const name of ["other", "0123ABCD", "0123abcd.sock"]) Deno.mkdirSync(`${runtime}/${name}`);
    Deno.symlinkSync(folder, `${runtime}/00000000`);
    assertEquals(gc({ dryRun: true }).temporary, { removed: 1, kept: 1, bytes: 0 });
    assertEquals(gc().temporary, { removed: 1, kept: 1, bytes: 0 });
    assert(Deno.lstatSync(living.path).isDirectory);
    assert(!namesIn(runtime).includes("0123abcd"));
    living.remove();
    assertEquals(namesIn(runtime), ["00000000", "0123ABCD", "0123abcd.sock", "other"]);
  }));

Deno.test("FolderLock: alone or shared, never of a folder that was moved away or is a link", () =>
  withBed(({ folder }) => {
    const path = `${folder}/locked`;
    Deno.mkdirSync(path);
    {
      using own = FolderLock.tryTake(path, "own");
      assert(own !== undefined);
      assertEquals([FolderLock.tryTake(path, "own"), FolderLock.tryTake(path, "share")], [undefined, undefined]);
    }
    {
      using one = FolderLock.tryTake(path, "share");
      using two = FolderLock.tryTake(path, "share");
      assert(one !== undefined && two !== undefined);
      assertEquals(FolderLock.tryTake(path, "own"), undefined);
    }
    Deno.symlinkSync(path, `${folder}/link`);
    assertEquals(FolderLock.tryTake(`${folder}/link`, "own"), undefined);
  }));

Deno.test("removeSession: where a link stands for the records, nobody's lock is looked at, and the link goes", () =>
  withBed(({ home }) => {
    using living = createSession(home);
    const ids = ["records", living.records, "nowhere"].map((target) => {
      const places = createSession(home);
      places.close();
      Deno.removeSync(places.records, { recursive: true });
      Deno.symlinkSync(target, places.records);
      return places.id;
    });
    for (const id of ids) assertEquals([isRunning(home, id), removeSession(home, id)], [false, "removed"]);
    assertEquals([isRunning(home, living.id), listSessions(home)], [true, [living.id]]);
  }));

Deno.test("removeSession: an ended one goes whole, a running one stays, a missing one is absent", () =>
  withBed(({ home }) => {
    const id = endedSession(home);
    const living = createSession(home);
    assertEquals([isRunning(home, id), isRunning(home, living.id)], [false, true]);
    assertEquals([removeSession(home, id), removeSession(home, id)], ["removed", "absent"]);
    assertEquals(removeSession(home, living.id), "running");
    assertEquals(namesIn(home.sessions), [living.id]);
    living.close();
    assertEquals(removeSession(home, living.id), "removed");
  }));

Deno.test("collectGarbage: two at once beside runs remove each old session once, and nothing of a living one", async () => {
  const folder = Deno.makeTempDirSync({ dir: "/tmp", prefix: "b" });
  try {
    const home = openHome((name) => name === "BOLL_HOME" ? `${folder}/home` : undefined);
    const old = Array.from({ length: 150 }, () => endedSession(home));
    const room = JSON.stringify(new URL("../mod.ts", import.meta.url).href);
    Deno.writeTextFileSync(
      `${folder}/gc.ts`,
      `import { collectGarbage, openHome } from ${room};
       const home = openHome(() => ${JSON.stringify(home.root)});
       let removed = 0;
       const failed = [];
       for (let i = 0; i < 20; i++) {
         const report = collectGarbage(home, { keep: 0, runtimeFolder: ${JSON.stringify(`${folder}/run/boll`)} });
         removed += report.sessions.removed;
         failed.push(...report.failed);
       }
       console.log(JSON.stringify({ removed, failed }));`,
    );
    Deno.writeTextFileSync(
      `${folder}/runs.ts`,
      `import { createSession, makeTemporaryFolder, openHome, runtimeFolder, TraceWriter } from ${room};
       const home = openHome(() => ${JSON.stringify(home.root)});
       for (let i = 0; i < 150; i++) {
         using tmp = makeTemporaryFolder(runtimeFolder(() => ${JSON.stringify(`${folder}/run`)}));
         using places = createSession(home);
         using trace = new TraceWriter(places, { onProblem: (error) => { throw error; } });
         Deno.writeTextFileSync(tmp.path + "/n", "x");
         Deno.writeTextFileSync(places.work + "/x", "x");
         trace.append("session_end", ${JSON.stringify(END)});
         Deno.lstatSync(places.summary);
       }
       console.log("{}");`,
    );
    Deno.mkdirSync(`${folder}/run`, { mode: 0o700 });
    const config = join(import.meta.dirname!, "../../../deno.json");
    const runs = ["gc.ts", "gc.ts", "runs.ts"].map((program) =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", "--quiet", "--config", config, `${folder}/${program}`],
        stdin: "null",
      }).output()
    );
    const outputs = (await Promise.all(runs)).map(({ code, stdout, stderr }) => {
      assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
      return JSON.parse(new TextDecoder().decode(stdout));
    });
    assertEquals([outputs[0].failed, outputs[1].failed], [[], []]);
    assert(outputs[0].removed + outputs[1].removed >= old.length);
    const left = listSessions(home);
    assertEquals(outputs[0].removed + outputs[1].removed + left.length, old.length + 150);
    assertEquals([markCrashed(home), left.filter((id) => old.includes(id))], [[], []]);
    assertEquals(namesIn(`${folder}/run/boll`), []);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
