import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Bed } from "../harness.ts";
import { forExecutable } from "../harness.ts";
import { DelegatingWorkspace } from "./delegating_workspace.ts";
import { readHandedOver, recordOf, sessionIds, traceOf } from "./delegation_records.ts";

/** The id of the oldest session of the bed. */
function rootOf(bed: Bed): string {
  return sessionIds(bed)[0]!;
}

forExecutable(
  "boll run: a guest delegates, with a mount of its own, and reads the child's answer, fenced",
  async (bed) => {
    const space = new DelegatingWorkspace(bed);
    const docs = bed.folder("docs", { "a.txt": "kept" });
    await space.capsule("asker", {
      grants: { spawn: ["worker"], fs: { mounts: [{ guest: "/docs", mode: "rw" }] } },
    });
    await space.capsule("worker", {
      guest: "probe",
      grants: { fs: { mounts: [{ guest: "/data", mode: "ro" }] } },
      source:
        `({ read: readFile("/data/a.txt"), wrote: attempt(() => writeFile("/data/b", "")).err, task: readStdin() })`,
    });
    await space.lock();
    const source = `waitFor(delegate({ task: "look", mounts: [{ child: "/data", parent: "/docs" }] }))`;
    const { code, value, stderr } = await space.run("asker", source, ["--mount", `${docs}:/docs:rw`]);
    assertEquals([code, stderr], [0, ""]);
    const outcome = readHandedOver(value);
    assertEquals(JSON.parse(outcome.result), { read: "kept", wrote: "read-only", task: "look" });
    assertEquals(outcome.status, "ok");

    const root = traceOf(bed, rootOf(bed));
    const start = root.find(({ event }) => event === "delegation_start");
    const end = root.find(({ event }) => event === "delegation");
    assertEquals([start?.["child_session_id"], start?.["delegation_id"]], [outcome.session, outcome.id]);
    assertEquals([end?.["child_session_id"], end?.["status"]], [outcome.session, "ok"]);
    const [first] = traceOf(bed, outcome.session);
    assertEquals([first?.["spawned_by"], first?.["delegation_id"]], [rootOf(bed), outcome.id]);
    const { status, reported_by, delegation_id } = recordOf(bed, outcome.session, "completion");
    assertEquals([status, reported_by, delegation_id], ["ok", "launcher", outcome.id]);
  },
);

forExecutable(
  "boll run: what does not fit is refused on its axis, what is not as the lock has it by name; nothing is started",
  async (bed) => {
    const space = new DelegatingWorkspace(bed);
    const asks = { net: { net: ["https://example.com"] }, env: { env: ["LANG"] }, work: { fs: { work: "rw" } } };
    const more = {
      ...asks,
      memory: { limits: { memory_mb: 4_096 } },
      mount: { fs: { mounts: [{ guest: "/data", mode: "rw" }] } },
      nested: { spawn: ["stranger"] },
    };
    const names = Object.keys(more);
    for (const [name, grants] of Object.entries(more)) await space.capsule(name, { guest: "cat", grants });
    for (const name of ["fits", "gone", "changed", "stranger"]) await space.capsule(name, { guest: "cat" });
    await space.lock();
    await space.capsule("asker", { grants: { spawn: [...names, "fits", "gone", "changed", "missing"] } });
    Deno.removeSync(`${space.root}/gone`, { recursive: true });
    Deno.writeTextFileSync(`${space.root}/changed/more.txt`, "");
    const source = `
    const tryTo = (capsule, more) => {
      const { ok, err } = attempt(() => delegate({ capsule, ...more }));
      return ok ? "started" : err.tag + ": " + err.val;
    };
    const all = [${
      names.map((name) => JSON.stringify(name))
    }, "stranger", "missing", "gone", "changed"].map((name) => tryTo(name));
    return [...all, tryTo("fits", { version: "9.9.9" }), tryTo("fits", { mounts: [{ child: "/x", parent: "/y" }] })];
  `;
    const { code, value, stderr } = await space.run("asker", source, ["--quiet"]);
    assertEquals(code, 0, stderr);
    const said = [
      ...["net https://example.com: ", "env LANG: ", "fs.work: ", "limits memory_mb: ", "fs.mounts /data: "],
      ...["spawn stranger: delegating to stranger", "spawn stranger: starting stranger"],
      ...["missing: not installed", "gone: digest changed", "changed: digest changed", "fits@9.9.9: not installed"],
      "fs.mounts /x: ",
    ];
    assertEquals((value as string[]).length, said.length);
    for (const [index, text] of said.entries()) {
      assertStringIncludes((value as string[])[index]!, text);
      assertMatch((value as string[])[index]!, /^refused: Delegate to /);
      assertEquals((value as string[])[index]!.includes(bed.root), false, "a place of the host's");
    }
    assertEquals(bed.sessions().length, 1);
    const refused = traceOf(bed, rootOf(bed)).filter(({ event }) => event === "delegation_refused");
    assertEquals(refused.length, said.length);
  },
);

forExecutable("boll run: a capsule that changes while the run goes on is not started any more", async (bed) => {
  const space = new DelegatingWorkspace(bed);
  await space.capsule("asker", { grants: { spawn: ["worker"] } });
  const folder = await space.capsule("worker", { guest: "cat" });
  await space.lock();
  const source = `
    const first = waitFor(delegate({ task: "once" }));
    print("asked"); readStdin();
    return [first, attempt(() => delegate({ task: "again" })).err];
  `;
  const run = bed.start(space.command("asker", source), { stdin: { open: true } });
  await run.stdout.waitFor("asked");
  Deno.writeTextFileSync(`${folder}/more.txt`, "");
  await run.closeStdin();
  const { code, stdout, stderr } = await run.result();
  assertEquals(code, 0, stderr);
  const [first, refusal] = JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
  assertEquals([readHandedOver(first).status, readHandedOver(first).result], ["ok", "once"]);
  const message = "Delegate to worker: digest changed, its files are not those that boll.lock has";
  assertEquals(refusal, { tag: "refused", val: message });
});

forExecutable(
  "boll run: three deep, each with less; and who delegates to itself for ever ends by a refusal",
  async (bed) => {
    const space = new DelegatingWorkspace(bed);
    const relay = (next: string) => `waitFor(delegate({ capsule: "${next}", task: readStdin() + " ${next}" }))`;
    await space.capsule("asker", { grants: { spawn: ["middle", "worker", "mirror"] } });
    await space.capsule("middle", { grants: { spawn: ["worker"] }, source: relay("worker") });
    await space.capsule("worker", { guest: "cat" });
    await space.capsule("mirror", {
      grants: { spawn: ["mirror"] },
      source: `
      const { ok, err } = attempt(() => delegate({ capsule: "mirror" }));
      if (err) return err.val;
      return waitFor(ok);
    `,
    });
    await space.lock();
    const source = `["middle", "mirror"].map((capsule) => waitFor(delegate({ capsule, task: "say" })))`;
    const { code, value, stderr } = await space.run("asker", source);
    assertEquals(code, 0, stderr);
    const [chain, mirrors] = value as string[];
    assertStringIncludes(chain!, "to middle@0.1.0 ended ok:");
    assertStringIncludes(chain!, "say worker");
    assertStringIncludes(mirrors!, "depth 5");
    const paths = bed.sessions().map((folder) => {
      const events = traceOf(bed, folder.split("/").at(-1)!);
      const name = (events[0]?.["capsule"] as { name: string }).name;
      return [name, events.at(-1)?.["status"]];
    });
    assertEquals(paths, [
      ...["asker", "middle", "worker", "mirror", "mirror", "mirror", "mirror"].map((name) => [name, "completed"]),
    ]);

    const root = rootOf(bed);
    const drawn = (await bed.run(["trace", "tree", root])).stdout;
    const shape = drawn.split("\n").map((line) => /^[^a-z]*(asker|middle|worker|mirror)(?= 0)/.exec(line)?.[0]);
    assertEquals(shape.filter((line) => line !== undefined), [
      "asker",
      ...["├─ middle", "│  └─ worker", "└─ mirror", "   └─ mirror", "      └─ mirror", "         └─ mirror"],
    ]);
    assertMatch(drawn, /worker 0\.1\.0 {2}ok {2}.* {2}answered 10 bytes {2}ses_/);
    assertEquals((await bed.run(["trace", "tree"])).stdout, drawn);
    const lines = (await bed.run(["trace", "tree", root, "--json"])).stdout.trimEnd().split("\n");
    const [first, second] = lines.map((line) => JSON.parse(line));
    assertEquals([lines.length, first.status, second.spawned_by, second.delegation_status], [
      7,
      "completed",
      root,
      "ok",
    ]);
  },
);
