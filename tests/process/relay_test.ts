import { assertEquals } from "@std/assert";
import { buildCapsules } from "../../capsules/build.ts";
import { completeGrants } from "../../src/grants/defaults.ts";
import { DEFAULT_LIMITS, fitGrants } from "../../src/grants/mod.ts";
import { loadCapsule } from "../../src/manifest/mod.ts";
import { forExecutable, REPOSITORY } from "../harness.ts";
import { runComponent, ScriptedDelegator } from "./delegating_cell.ts";

const RELAY = `${REPOSITORY}/capsules/relay`;

await buildCapsules(`${REPOSITORY}/capsules`, `${REPOSITORY}/.build/capsules`);

forExecutable("relay: hands its folder and its task to word-count, and prints what that answers", async (bed) => {
  const { manifest } = await loadCapsule(RELAY);
  const args = manifest!.args;
  const text = "[delegate-task] delegation dlg_… ended ok:\n<untrusted-content source=delegation:word-count>\n…";
  const delegator = new ScriptedDelegator({ ended: () => Promise.resolve(text) });
  const task = `count ümlauts\n${"x".repeat(200_000)}`;
  const input = () => ReadableStream.from([new TextEncoder().encode(task)]);
  const read = await runComponent(bed, `${RELAY}/relay.wasm`, args, { delegator, input: input() });
  assertEquals([read.outcome.exit_code, read.stdout, read.stderr], [0, `${text}\n`, ""]);
  const said = await runComponent(bed, `${RELAY}/relay.wasm`, [...args, "count", "words"], {
    delegator,
    input: input(),
  });
  assertEquals([said.outcome.exit_code, said.stdout], [0, `${text}\n`]);
  const call = { capsule: "word-count", mounts: [["/data", "/docs"]] };
  assertEquals<unknown>(delegator.calls, [{ ...call, task }, { ...call, task: "count words" }]);
});

Deno.test("relay: all that word-count asks for fits inside what it has", async () => {
  const [relay, wordCount] = await Promise.all([RELAY, `${REPOSITORY}/capsules/word-count`].map(loadCapsule));
  const mounts = [{ guest: "/docs", mode: "ro", host: "/srv/docs" }] as const;
  const parent = completeGrants(relay!.manifest!.grants, { limits: DEFAULT_LIMITS, mounts });
  const fitted = fitGrants({ declared: wordCount!.manifest!.grants, parent, mounts: { "/data": "/docs" } });
  assertEquals("misfits" in fitted ? fitted.misfits : fitted.grants.fs.mounts, [
    { guest: "/data", mode: "ro", host: "/srv/docs" },
  ]);
});

forExecutable("relay: says why word-count was not started, and ends with 1", async (bed) => {
  const delegator = new ScriptedDelegator({
    start: () => Promise.resolve({ kind: "refused", message: "fs.mounts: /docs is not bound" }),
  });
  const refused = await runComponent(bed, `${RELAY}/relay.wasm`, ["/docs", "x"], { delegator });
  assertEquals([refused.outcome.exit_code, refused.stdout, refused.stderr], [
    1,
    "",
    "relay: word-count was not started: refused: fs.mounts: /docs is not bound\n",
  ]);
});
