import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { fixture, forMode } from "../harness.ts";
import { NewerBoll } from "./newer_boll.ts";
import { assertNothingAfterGc, namesIn, sessionsOf } from "./whole_records.ts";

const HELLO = [0, "hello from wasm\n", ""];

forMode(
  "binary",
  "two versions: each builds what it runs, and removing what is old takes nothing from a run of the other",
  async (bed) => {
    const newer = new NewerBoll(bed);
    assertMatch((await newer.run(["version"])).stdout, /9\.0\.0/);
    const cache = join(bed.home, "cache");
    const identities = () => new Map(namesIn(cache).map((key) => [key, Deno.statSync(join(cache, key)).ino]));
    const [hello, probe] = [await fixture("hello_stdio"), await fixture("probe")];
    for (const boll of [bed, newer, bed, newer]) {
      const { code, stdout, stderr } = await boll.run(["run", hello]);
      assertEquals([code, stdout, stderr], HELLO);
    }
    assertEquals([identities().size, sessionsOf(bed.home).length], [2, 4]);
    const before = identities();
    const running = newer.start(["run", probe, "--", 'print("up"); readStdin(); print("done"); exit(0)'], {
      stdin: { open: true },
    });
    await running.stdout.waitFor("up\n");
    const [held] = namesIn(cache).filter((key) => !before.has(key));
    const removed = JSON.parse((await bed.run(["gc", "--keep", "0", "--older-than", "0", "--json"])).stdout);
    assertEquals([removed.sessions.removed, removed.sessions.running, removed.cache.removed, removed.failed], [
      4,
      1,
      2,
      [],
    ]);
    assertEquals(namesIn(cache), [held]);
    assertEquals((await bed.run(["rm", "last"])).code, 1);
    assertEquals(JSON.parse((await bed.run(["ps", "--json"])).stdout).session_id, sessionsOf(bed.home)[0]);
    await running.closeStdin();
    const { code, stdout } = await running.result();
    assertEquals([code, stdout], [0, "up\ndone\n"]);
    assertEquals((await newer.run(["run", "--dry-run", probe])).code, 0);
    assertEquals(namesIn(cache), [held]);
    for (const boll of [bed, newer]) {
      assertEquals(JSON.parse((await boll.run(["sessions", "--json"])).stdout).status, "completed");
    }
    await assertNothingAfterGc(bed);
  },
);

forMode(
  "binary",
  "two versions: events, fields and files that only a newer one knows are shown, kept, and in nobody's way",
  async (bed) => {
    const hello = await fixture("hello_stdio");
    assertEquals((await bed.run(["run", hello])).code, 0);
    const [id] = sessionsOf(bed.home);
    const session = join(bed.home, "sessions", id!);
    const change = (name: string, edit: (text: string) => string) => {
      const path = join(session, "records", name);
      Deno.writeTextFileSync(path, edit(Deno.readTextFileSync(path)));
    };
    const addField = (text: string) => JSON.stringify({ ...JSON.parse(text), of_9: { deep: [1] } });
    change("summary.json", addField);
    change("plan.json", addField);
    change("trace.jsonl", (text) => {
      const [start, ...rest] = text.trimEnd().split("\n");
      const foreign = JSON.stringify({ event: "of_9", ts: JSON.parse(start!).ts, session_id: id, what: { deep: [1] } });
      return [addField(start!), foreign, ...rest.slice(0, -1), addField(rest.at(-1)!), ""].join("\n");
    });
    for (const place of ["of_9", "records/of_9", "runtime/of_9"]) {
      Deno.mkdirSync(join(session, place));
      Deno.writeTextFileSync(join(session, place, "file"), "of 9");
    }
    for (const place of ["of_9", "cache/of_9", "sessions/of_9"]) Deno.mkdirSync(join(bed.home, place));
    const shown = await bed.run(["trace", "show"]);
    assertEquals([shown.code, shown.stderr], [0, ""]);
    assertMatch(shown.stdout, /of_9 +what=\{"deep":\[1\]\}\n/);
    assertMatch(shown.stdout, /session_end +completed/);
    const listed = await bed.run(["sessions", "--json"]);
    assertEquals([JSON.parse(listed.stdout).status, listed.stdout.trimEnd().split("\n").length], ["completed", 1]);
    for (const verb of [["logs"], ["ps"], ["gc"], ["run", hello]]) assertEquals((await bed.run(verb)).code, 0);
    assert(namesIn(join(session, "records")).includes("of_9"));
    assertEquals((await bed.run(["rm", id!])).code, 0);
    assertEquals((await bed.run(["gc", "--keep", "0"])).code, 0);
    assertEquals([namesIn(join(bed.home, "sessions")), namesIn(bed.home).includes("of_9")], [["of_9"], true]);
    assert(namesIn(join(bed.home, "cache")).includes("of_9"));
  },
);

forMode("binary", "two versions: consent in a file of a newer version is neither used nor overwritten", async (bed) => {
  const manifest = { name: "foreign", version: "0.1.0", component: "guest.wasm", grants: { fs: { work: "rw" } } };
  const capsule = bed.folder("foreign", { "capsule.jsonc": JSON.stringify(manifest) });
  Deno.copyFileSync(await fixture("hello_stdio"), join(capsule, "guest.wasm"));
  assertEquals((await bed.run(["run", "--accept", capsule])).code, 0);
  const path = join(bed.home, "trust.json");
  const [own, newer] = [Deno.readTextFileSync(path), '{"version":2,"consents":{}}\n'];
  Deno.writeTextFileSync(path, newer);
  for (const flags of [[], ["--accept"]]) {
    const { code, stdout, lastLine } = await bed.run(["run", ...flags, capsule]);
    assertEquals([code, stdout], [1, ""]);
    assertMatch(lastLine, /^boll: .*trust\.json: found version 2, wanted 1: a newer boll wrote it; use that one/);
  }
  assertEquals(Deno.readTextFileSync(path), newer);
  Deno.writeTextFileSync(path, own);
  assertEquals((await bed.run(["run", capsule])).code, 0);
});
