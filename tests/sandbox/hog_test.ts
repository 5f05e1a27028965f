import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Bed, fixture, RunningBoll } from "../harness.ts";
import { limitedCapsule, sessionEnd } from "../process/limited_run.ts";
import { buildVariant, startBundler } from "./variant/build.ts";

await startBundler();

let variant: string;
Deno.test.beforeAll(async () => {
  variant = await buildVariant();
});

/** What a hog in the guest's thread does, which only a limit ends. */
const HOGS: Readonly<Record<string, { limits: Record<string, number>; source: string; ends: readonly string[] }>> = {
  "a thread bomb": {
    limits: { memory_mb: 64 },
    source: `for (let held = [];; ) {
      const worker = new Worker("data:text/javascript,postMessage(1)", { type: "module" });
      await new Promise((resolve) => worker.onmessage = resolve);
      held.push(worker);
    }`,
    ends: ["8 memory"],
  },
  "a heap without end": {
    limits: { memory_mb: 64 },
    source: `for (let held = [];; ) held.push(new Array(1000).fill(held.length));`,
    ends: ["8 memory"],
  },
  "buffers without end": {
    limits: { memory_mb: 64 },
    source: `for (let held = [];; ) held.push(new Uint8Array(2 ** 20).fill(1));`,
    // By an exception of its own, which it could have caught, or by the barrier, where the engine needs memory first.
    ends: ["1 crashed", "8 memory"],
  },
  "two threads that never yield": {
    limits: { cpu_seconds: 2 },
    source: `new Worker("data:text/javascript,for(;;);", { type: "module" });
    for (;;);`,
    ends: ["8 cpu"],
  },
  "a thread that never yields, with a deadline": {
    limits: { deadline_ms: 2000 },
    source: `for (;;);`,
    ends: ["124 deadline"],
  },
};

/** Runs code in a guest's thread behind all walls, with these limits and a folder to write in. */
async function runInjected(bed: Bed, limits: Record<string, number>, source: string) {
  const capsule = limitedCapsule(bed, await fixture("ok"), limits);
  const child = new Deno.Command(variant, {
    args: [
      "run",
      "--accept",
      "--quiet",
      "--mount",
      `${bed.folder("data")}:/data:rw`,
      capsule,
      "--",
      `//injected\n${source}`,
    ],
    cwd: bed.root,
    clearEnv: true,
    env: bed.environment({ BOLL_TEST_STANDING_WALLS: "1234" }),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  return await new RunningBoll(child, { safetyNetMs: 120_000 }).result();
}

for (const [name, { limits, source, ends }] of Object.entries(HOGS)) {
  Deno.test(`hog: ${name}, by code in the guest's thread, ends by a name of its own; within it a run ends well [binary]`, async () => {
    await using bed = new Bed("binary");
    const { code, stderr } = await runInjected(bed, limits, source);
    const { ended_by } = sessionEnd(bed);
    assert(ends.includes(`${code} ${ended_by}`), `${code} ${ended_by}: ${stderr}`);
    const quiet = await runInjected(bed, { ...limits, deadline_ms: 60_000 }, "return 1;");
    assertEquals([quiet.code, quiet.stdout], [0, "1\n"], quiet.stderr);
  });
}

Deno.test("hog: bytes in all and output are counted by wall 1 alone; the longest file and the most open files by the process too [binary]", async () => {
  await using bed = new Bed("binary");
  const limits = { work_bytes: 1000, output_bytes: 1000, file_bytes: 4096, open_files: 20 };
  const { code, stdout, stderr } = await runInjected(
    bed,
    limits,
    `const { host } = load.grants.fs.mounts[0];
    const tell = (act) => { try { return act(); } catch (error) { return error.message; } };
    const fill = (name, bytes) => tell(() => Deno.writeFileSync(host + "/" + name, new Uint8Array(bytes)) === undefined);
    const held = [];
    const hold = () => { for (;;) held.push(Deno.openSync(host + "/a")); };
    Deno.stdout.writeSync(new TextEncoder().encode("x".repeat(1999) + "\\n"));
    const filled = [fill("a", 4096), fill("b", 4096), fill("c", 4097)];
    const refusal = tell(hold);
    for (const file of held) file.close();
    return { filled, refusal };`,
  );
  assertEquals(code, 0, stderr);
  const [flood, seen] = stdout.trimEnd().split("\n");
  assertEquals(flood!.length, 1999);
  const { filled: [a, b, tooLong], refusal } = JSON.parse(seen!);
  assertEquals([a, b], [true, true]);
  assertStringIncludes(tooLong, "os error 27");
  assertStringIncludes(refusal, "os error 24");
});
