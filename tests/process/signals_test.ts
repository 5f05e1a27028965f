import { assertEquals } from "@std/assert";
import { type Bed, fixture, forExecutable } from "../harness.ts";
import { startProbe, WAYS_TO_BE_BUSY } from "./guest_run.ts";
import { assertLastLine, sessionEnd } from "./limited_run.ts";
import { assertNothingLeft, cellsOf } from "./leftovers.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

function assertInterrupted(bed: Bed): void {
  const { status, exit_code, ended_by } = sessionEnd(bed);
  assertEquals([status, exit_code, ended_by], ["cancelled", 130, "interrupted"]);
  assertEquals(bed.trace().filter(({ event }) => event === "session_end").length, 1);
  assertNothingLeft(bed);
}

for (const [way, source] of Object.entries(WAYS_TO_BE_BUSY)) {
  forExecutable(
    `signals: each one that asks boll to end interrupts the run, once and recorded, when its guest ${way}`,
    async (bed) => {
      for (const signal of SIGNALS) {
        const { running } = await startProbe(bed, source);
        running.child.kill(signal);
        const result = await running.result();
        assertEquals([result.code, result.signal], [130, null]);
        assertLastLine(result, /interrupted/);
        assertInterrupted(bed);
      }
    },
  );
}

forExecutable("signals: several in a row are one interruption", async (bed) => {
  for (const pair of [["SIGINT", "SIGINT"], ["SIGTERM", "SIGINT"], ["SIGHUP", "SIGTERM"]] as const) {
    const { running } = await startProbe(bed, "for (;;);");
    for (const signal of pair) running.child.kill(signal);
    // Until boll is gone: the record must survive a user who leans on the key.
    const leaning = setInterval(() => tryKill(running.child, pair[1]), 1);
    const result = await running.result();
    clearInterval(leaning);
    assertEquals([result.code, result.signal], [130, null]);
    assertInterrupted(bed);
  }
});

forExecutable("signals: with --json an interrupted run ends with its object", async (bed) => {
  const { running } = await startProbe(bed, "readStdin()", ["--json"]);
  running.child.kill("SIGTERM");
  const { code, json } = await running.result();
  assertEquals([code, json?.["exit_code"], json?.["status"], json?.["ended_by"]], [
    130,
    130,
    "cancelled",
    "interrupted",
  ]);
});

forExecutable(
  "signals: a signal to the cell alone, as Ctrl-C gives it to the whole group, is an interruption too",
  async (bed) => {
    for (const signal of SIGNALS) {
      const { running, cell } = await startProbe(bed, "readStdin()");
      Deno.kill(cell, signal);
      assertEquals((await running.result()).code, 130);
      assertInterrupted(bed);
    }
  },
);

forExecutable("signals: a build is interrupted like a run, and leaves neither a cell nor half a build", async (bed) => {
  const running = bed.start(["run", await fixture("probe")]);
  while (cellsOf(bed, running.child.pid).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  running.child.kill("SIGTERM");
  assertEquals((await running.result()).code, 130);
  assertInterrupted(bed);
  assertEquals([...Deno.readDirSync(`${bed.home}/cache`)].filter(({ name }) => name.startsWith(".build-")), []);
  assertEquals(bed.trace().some(({ event }) => event === "walls"), false);
});

function tryKill(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // It has ended.
  }
}
