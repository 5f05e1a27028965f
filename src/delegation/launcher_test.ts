import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { NO_GRANTS } from "../grants/mod.ts";
import { commandOf, digestCapsule, loadCapsule } from "../manifest/mod.ts";
import { openHome } from "../records/mod.ts";
import { OWN_PLACE } from "../supervisor/tree/mod.ts";
import { Launcher } from "./launcher.ts";
import type { LauncherOptions } from "./launcher_options.ts";

const PLACE = "/home/of/somebody";

/** What a call is answered when looking its capsule up fails, and what the operator is told. */
async function answerTo(failure: Error): Promise<{ answer: unknown; warned: string[] }> {
  const warned: string[] = [];
  const grants = { spawn: ["worker"], limits: { deadline_ms: 1_000 } };
  const options = {
    root: { places: { id: "ses", runtime: "/nowhere" }, grants, envValues: {}, remainingMs: () => 1_000 },
    find() {
      throw failure;
    },
    warn: (line: string) => void warned.push(line),
  };
  await using launcher = new Launcher(options as unknown as LauncherOptions);
  const answer = await launcher.at(OWN_PLACE).start({ capsule: "worker", task: "", mounts: [] });
  return { answer, warned };
}

Deno.test("Launcher: what fails is told to the operator, and to who asked that it failed; a refusal is told to both", async () => {
  const failed = { kind: "failed", message: "Delegate to worker: it could not be started" };
  for (const failure of [new Deno.errors.NotFound(PLACE), new CapsuleError("home.unwritable", PLACE)]) {
    const { answer, warned } = await answerTo(failure);
    assertEquals(answer, failed);
    assertEquals([warned.length, warned[0]!.includes(PLACE)], [1, true]);
  }
  const message = "Delegate to worker: not installed, boll.lock does not have it";
  assertEquals(await answerTo(new CapsuleError("capsule.not_installed", message)), {
    answer: { kind: "refused", message },
    warned: [],
  });
});

/** A capsule of a few bytes that are no component: its session starts, and ends because of it. */
async function brokenCapsule(root: string) {
  const folder = `${root}/worker`;
  Deno.mkdirSync(folder);
  Deno.writeTextFileSync(`${folder}/guest.wasm`, "none");
  const manifest = { name: "worker", version: "0.1.0", component: "guest.wasm" };
  Deno.writeTextFileSync(`${folder}/capsule.jsonc`, JSON.stringify(manifest));
  const capsule = commandOf(await loadCapsule(folder));
  const digests = digestCapsule(capsule);
  const component = { digest: digests.component, key: "none", description: { imports: [] } };
  return { capsule, manifest: capsule.manifest, digest: digests.capsule, built: () => ({ component }) };
}

Deno.test("Launcher: a session that never asks for its ends starts no more than so many, loses none, and goes on once it asks", async () => {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "boll-launcher-" }));
  try {
    const spawnable = await brokenCapsule(root);
    for (const name of ["parent", "runtime"]) Deno.mkdirSync(`${root}/${name}`);
    let ended = Promise.withResolvers<void>();
    const options = {
      home: openHome((name) => name === "BOLL_HOME" ? `${root}/home` : undefined),
      runtime: `${root}/runtime`,
      boll_version: "0",
      root: {
        places: { id: "ses_parent", runtime: `${root}/parent` },
        grants: { ...NO_GRANTS, spawn: ["worker"] },
        envValues: {},
        remainingMs: () => 60_000,
      },
      find: () => spawnable,
      containmentOf: () => ({ achieved: "advisory", reasons: [] }),
      onEnd: () => ended.resolve(),
      warn() {},
      maxUnheard: 2,
    };
    await using launcher = new Launcher(options as unknown as LauncherOptions);
    const port = launcher.at(OWN_PLACE);
    const start = async () => {
      const answer = await port.start({ capsule: "worker", task: "", mounts: [] });
      if ("kind" in answer) return answer.message;
      return answer.delegation_id;
    };
    const ids: string[] = [];
    for (let i = 0; i < 2; i++) {
      ended = Promise.withResolvers();
      ids.push(await start());
      assertMatch(ids[i]!, /^dlg_/);
      await ended.promise;
    }
    const refusal = "Delegate: 2 delegations were started and never asked for their ends, ask for one first (unheard)";
    assertEquals([await start(), await start()], [refusal, refusal]);
    const { text } = await port.ended(ids[0]!);
    assertStringIncludes(text, `delegation ${ids[0]} to worker@0.1.0 ended error`);
    ended = Promise.withResolvers();
    ids.push(await start());
    // One that is asked for while it runs is none of those that were left.
    const third = port.ended(ids[2]!);
    assertStringIncludes((await third).text, ids[2]!);
    assertStringIncludes((await port.ended(ids[1]!)).text, ids[1]!);
    assertEquals(await port.ended(ids[1]!).catch(({ code }) => code), "tree.not_running");
    assert(ids.every((id) => id.startsWith("dlg_")));
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
