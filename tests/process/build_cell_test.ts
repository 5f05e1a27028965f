import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Bed, fixture, forExecutable, forMode, type RunningBoll } from "../harness.ts";
import { environmentOf, statusField } from "../processes.ts";
import { assertNothingLeft, cellsOf } from "./leftovers.ts";

/** The cell of a run whose component is not built yet: its first one. */
async function buildCellOf(bed: Bed, running: RunningBoll): Promise<number> {
  for (;;) {
    const [cell] = cellsOf(bed, running.child.pid);
    if (cell !== undefined) return cell;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Waits until seccomp stands on a process; it fails when the process ends without. */
async function waitForFilter(pid: number): Promise<void> {
  while (statusField(pid, "Seccomp") !== "2") await new Promise((resolve) => setTimeout(resolve, 1));
}

forMode(
  "binary",
  "build cell: the kernel wall on every thread, its limits, its environment, no user's streams",
  async (bed) => {
    const running = bed.start(["run", await fixture("probe"), "--env", "GRANTED=value", "--", "1"]);
    const cell = await buildCellOf(bed, running);
    await waitForFilter(cell);
    const threads = [...Deno.readDirSync(`/proc/${cell}/task`)].map(({ name }) => Number(name));
    for (const thread of threads) {
      assertEquals([statusField(thread, "NoNewPrivs"), statusField(thread, "Seccomp")], ["1", "2"], `thread ${thread}`);
    }
    const limits = Deno.readTextFileSync(`/proc/${cell}/limits`);
    assertMatch(limits, new RegExp(`Max data size +${600_000_000 + 2 ** 30} `));
    assertMatch(limits, /Max cpu time +60 /);
    const names = Object.keys(environmentOf(cell)).sort();
    assertEquals(names, ["BOLL_CHILD", "BOLL_PARENT_PID", "HOME", "PATH", "TMPDIR"]);
    for (const stream of [0, 1, 2]) assertMatch(Deno.readLinkSync(`/proc/${cell}/fd/${stream}`), /^(pipe|socket):/);
    assertEquals((await running.result()).code, 0);
    assertNothingLeft(bed);
  },
);

forExecutable(
  "cache: a build that was changed on disk is built anew and recorded, an unchanged one is used",
  async (bed) => {
    const run = async () => {
      const { code, stdout, stderr } = await bed.guest("hello_stdio");
      assertEquals([code, stdout], [0, "hello from wasm\n"], stderr);
      return bed.trace().filter(({ event }) => event === "cache_mismatch").length;
    };
    assertEquals(await run(), 0);
    for (const ending of [".js", ".wasm"]) {
      const file = cachedFile(bed, ending);
      const whole = Deno.readFileSync(file);
      Deno.writeFileSync(file, whole.map((byte, at) => (at === whole.length - 2 ? byte ^ 1 : byte)));
      assertEquals(await run(), 1, ending);
      assertEquals(Deno.readFileSync(cachedFile(bed, ending)), whole);
      assertEquals(await run(), 0);
    }
  },
);

function cachedFile(bed: Bed, ending: string): string {
  const [key, ...others] = [...Deno.readDirSync(`${bed.home}/cache`)].map(({ name }) => name);
  assert(key !== undefined && others.length === 0, `found ${others.length + 1} builds`);
  const folder = `${bed.home}/cache/${key}`;
  const file = [...Deno.readDirSync(folder)].find(({ name }) => name.endsWith(ending));
  assert(file !== undefined, `found no ${ending} in ${[...Deno.readDirSync(folder)].map(({ name }) => name)}`);
  return `${folder}/${file.name}`;
}

forMode("binary", "build cell: one that was stopped for its processor time is told as that", async (bed) => {
  const running = bed.start(["run", await fixture("probe"), "--", "1"]);
  const cell = await buildCellOf(bed, running);
  await waitForFilter(cell);
  Deno.kill(cell, "SIGXCPU");
  const { code, lastLine } = await running.result();
  assertEquals([code, /more processor time than a build may/.test(lastLine)], [1, true], lastLine);
  assertNothingLeft(bed);
  assertEquals((await bed.guest("probe", ["--", "1"])).code, 0);
});
