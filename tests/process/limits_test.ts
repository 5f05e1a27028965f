import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Bed, forExecutable, forMode } from "../harness.ts";
import { buildText } from "../fixtures/build.ts";
import { assertLastLine, type Ending, endingOf, limitedCapsule, sessionEnd } from "./limited_run.ts";
import { warmGuest } from "../warm_cache.ts";

const MIB = 2 ** 20;
const CAP_MIB = 64;
const CAP_PAGES = CAP_MIB * 16;

/** A guest that grows its memory to `pages` pages and then traps. */
async function growThenTrap(bed: Bed, pages: number): Promise<string> {
  const text = `(module
    (memory (export "memory") 1)
    (func (export "wasi:cli/run@VERSION#run") (result i32)
      (if (i32.eq (memory.grow (i32.const ${pages - 1})) (i32.const -1)) (then (return (i32.const 0))))
      unreachable))`;
  const path = `${bed.folder("grown")}/${pages}.wasm`;
  Deno.writeFileSync(path, await buildText(text));
  return path;
}

forExecutable(
  "deadline: ends a tight loop, a wait in the host, and a read of an open stdin; within it a run ends by itself",
  async (bed) => {
    const [loop, block, cat, ok] = [
      await warmGuest(bed, "loop"),
      await warmGuest(bed, "block"),
      await warmGuest(bed, "cat"),
      await warmGuest(bed, "ok"),
    ];
    const wanted: Ending = [124, "deadline", "deadline"];
    assertEquals(await endingOf(bed, [loop, "--deadline", "200ms"]), wanted);
    assertEquals(await endingOf(bed, [block, "--deadline", "200ms"]), wanted);
    assertEquals(await endingOf(bed, [cat, "--deadline", "200ms"], { stdin: { open: true } }), wanted);
    assertEquals(await endingOf(bed, [ok, "--deadline", "60s"]), [0, "completed", "guest"]);
    assertLastLine(await bed.run(["run", block, "--deadline", "200ms"]), /deadline/);
  },
);

forExecutable(
  "deadline_ms of the manifest: holds without a flag, a flag narrows it, and one that would widen it is refused",
  async (bed) => {
    const block = await warmGuest(bed, "block");
    const own = limitedCapsule(bed, block, { deadline_ms: 200 });
    assertEquals(await endingOf(bed, [own]), [124, "deadline", "deadline"]);
    assertEquals((await bed.run(["run", "--accept", own, "--deadline", "10m"])).code, 5);
    const long = limitedCapsule(bed, block, { deadline_ms: 600_000 });
    assertEquals(await endingOf(bed, [long, "--deadline", "200ms"]), [124, "deadline", "deadline"]);
  },
);

forExecutable(
  "memory: a guest that fails with 90 % of its cap in use ends as memory, just below as itself",
  async (bed) => {
    const flags = ["--memory", `${CAP_MIB}m`];
    const full = await growThenTrap(bed, Math.ceil(CAP_PAGES * 0.9));
    assertEquals(await endingOf(bed, [full, ...flags]), [8, "failed", "memory"]);
    const below = await growThenTrap(bed, Math.ceil(CAP_PAGES * 0.9) - 1);
    assertEquals(await endingOf(bed, [below, ...flags]), [1, "failed", "trap"]);
  },
);

forExecutable(
  "memory: growth past the cap fails in the guest, which may end well; the cap itself can be reached",
  async (bed) => {
    const flags = ["--memory", `${CAP_MIB}m`];
    const whole = await growThenTrap(bed, CAP_PAGES);
    assertEquals(await endingOf(bed, [whole, ...flags]), [8, "failed", "memory"]);
    const beyond = await growThenTrap(bed, CAP_PAGES + 1);
    assertEquals(await endingOf(bed, [beyond, ...flags]), [0, "completed", "guest"]);
    const grow = await warmGuest(bed, "grow");
    const result = await bed.run(["run", grow, ...flags]);
    assertEquals(result.code, 8);
    assertLastLine(result, /memory limit/);
  },
);

forMode(
  "binary",
  "memory: a guest that fills the host's own heap meets the barrier of its process, and ends as memory",
  async (bed) => {
    const handles = await warmGuest(bed, "handles");
    const flags = ["--memory", "1m", "--mount", `${bed.folder("data")}:/data:ro`];
    const result = await bed.run(["run", handles, ...flags]);
    assertEquals(result.code, 8);
    // The engine's own last words may have been cut off in the middle of a line.
    assertMatch(result.lastLine, /boll: .*memory limit/);
    assertEquals(sessionEnd(bed).ended_by, "memory");
    assertEquals(await endingOf(bed, [await warmGuest(bed, "ok"), ...flags]), [0, "completed", "guest"]);
  },
);

forExecutable("stack: a guest that calls without end traps with the detail stack, and only it is hurt", async (bed) => {
  const recurse = await warmGuest(bed, "recurse");
  assertEquals(await endingOf(bed, [recurse]), [1, "failed", "trap"]);
  assertStringIncludes(String(sessionEnd(bed)["detail"]), "stack");
});

forMode(
  "binary",
  "cpu_seconds: ends a tight loop as cpu, with a thread of its own and without; a wait costs none",
  async (bed) => {
    const loop = await warmGuest(bed, "loop");
    const alone = limitedCapsule(bed, loop, { cpu_seconds: 1 });
    const [inThread, inWorker] = await Promise.all([
      bed.run(["run", "--accept", alone]),
      bed.run(["run", "--accept", "--mount", `${bed.folder("data")}:/data:ro`, alone]),
    ]);
    for (const result of [inThread, inWorker]) {
      assertEquals(result.code, 8, result.stderr);
      assertLastLine(result, /CPU limit/);
    }
    assertEquals(sessionEnd(bed).ended_by, "cpu");
    const waits = limitedCapsule(bed, await warmGuest(bed, "block"), { cpu_seconds: 1, deadline_ms: 1500 });
    assertEquals(await endingOf(bed, [waits]), [124, "deadline", "deadline"]);
  },
);

forExecutable(
  "output_bytes: ends a guest that writes without end, after exactly so many bytes; that many are allowed",
  async (bed) => {
    const flood = limitedCapsule(bed, await warmGuest(bed, "flood"), { output_bytes: 100_000 });
    const result = await bed.run(["run", "--accept", flood]);
    assertEquals([result.code, result.stdoutBytes.length], [8, 100_000]);
    assertLastLine(result, /output limit/);
    const hello = await warmGuest(bed, "hello_stdio");
    const exact = await bed.run(["run", "--accept", limitedCapsule(bed, hello, { output_bytes: 16 })]);
    assertEquals([exact.code, exact.stdout], [0, "hello from wasm\n"]);
    const short = limitedCapsule(bed, hello, { output_bytes: 15 });
    assertEquals(await endingOf(bed, [short]), [8, "failed", "output"]);
  },
);

/** Runs JavaScript in the probe with a work folder and these limits; the probe must end well. */
async function probeFiles(bed: Bed, limits: Record<string, number>, source: string): Promise<unknown> {
  const capsule = limitedCapsule(bed, await warmGuest(bed, "probe"), limits, { fs: { work: "rw" } });
  const result = await bed.run(["run", "--accept", capsule, "--", source]);
  assertEquals(result.code, 0, result.stderr);
  assertEquals(sessionEnd(bed).ended_by, "guest");
  return JSON.parse(result.stdout);
}

forExecutable("file_bytes: a byte past it is a WASI error, by write and by set-size; the run goes on", async (bed) => {
  const source = `
    const file = open("/workdir/a", { read: true, write: true, create: true });
    const at = (offset) => attempt(() => Number(file.write(bytes("x"), offset)));
    const size = (length) => attempt(() => file.setSize(length));
    return [at(${MIB - 1}), at(${MIB}), size(${MIB}), size(${MIB + 1}), attempt(() => Number(file.stat().size))];`;
  assertEquals(await probeFiles(bed, { file_bytes: MIB }, source), [
    { ok: 1 },
    { err: "file-too-large" },
    { ok: null },
    { err: "file-too-large" },
    { ok: MIB },
  ]);
});

forExecutable(
  "work_bytes: counts what is written in all, over files and rewrites; past it is a WASI error",
  async (bed) => {
    const source = `
    const results = [];
    for (let i = 0; i < 5; i++) {
      const file = open("/workdir/" + (i % 2), { write: true, create: true });
      results.push(attempt(() => Number(file.write(bytes("x".repeat(1000)), 0))));
    }
    return results;`;
    const ok = { ok: 1000 };
    assertEquals(await probeFiles(bed, { work_bytes: 3500 }, source), [ok, ok, ok, { ok: 500 }, { err: "quota" }]);
    assertEquals(await probeFiles(bed, { work_bytes: 5000 }, source), [ok, ok, ok, ok, ok]);
  },
);

forExecutable("open_files: one too many is a WASI error, and a closed one makes room again", async (bed) => {
  const source = `
    const files = [];
    let refusal;
    while (refusal === undefined && files.length < 100) {
      const opened = attempt(() => { files.push(open("/workdir/f" + files.length, { write: true, create: true })); });
      refusal = opened.err;
    }
    const count = files.length;
    files.pop()[Symbol.dispose]();
    const again = attempt(() => { files.push(open("/workdir/again", { write: true, create: true })); });
    return [count, refusal, again];`;
  const found = await probeFiles(bed, { open_files: 20 }, source) as [number, string, unknown];
  assertEquals(found.slice(1), ["insufficient-memory", { ok: null }]);
  // The preopened folder itself may count.
  assert(found[0] === 20 || found[0] === 19, `${found[0]} files could be open`);
});
