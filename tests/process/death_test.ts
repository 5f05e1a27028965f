import { assertEquals } from "@std/assert";
import { forExecutable } from "../harness.ts";
import { waitForEnd } from "../processes.ts";
import { startProbe, WAYS_TO_BE_BUSY } from "./guest_run.ts";
import { assertLastLine, sessionEnd } from "./limited_run.ts";
import { assertNothingLeft, cellsOf } from "./leftovers.ts";

for (const [way, source] of Object.entries(WAYS_TO_BE_BUSY)) {
  forExecutable(
    `death: boll is killed and its cell goes too, when its guest ${way}; the session is told as crashed`,
    async (bed) => {
      for (const flags of [[], ["--mount", `${bed.folder("data")}:/data:ro`]]) {
        const { running, main, cell } = await startProbe(bed, source, flags);
        assertEquals(cellsOf(bed, main), [cell]);
        running.child.kill("SIGKILL");
        await waitForEnd(cell);
        assertEquals((await running.result()).signal, "SIGKILL");
        assertEquals(cellsOf(bed, main), []);
        assertEquals(bed.trace().some(({ event }) => event === "session_end"), false);
        const shown = await bed.run(["trace", "show", "--json"]);
        assertEquals(shown.code, 0);
        assertEquals(JSON.parse(shown.lastLine || shown.stdout.trimEnd().split("\n").at(-1)!)["ended_by"], "crashed");
        assertEquals(sessionEnd(bed).status, "crashed");
      }
    },
  );

  forExecutable(`death: its cell is killed and boll ends as crashed, when its guest ${way}`, async (bed) => {
    const { running, cell } = await startProbe(bed, source);
    Deno.kill(cell, "SIGKILL");
    const result = await running.result();
    assertEquals(result.code, 1);
    assertLastLine(result, /the cell crashed/);
    const { status, exit_code, ended_by } = sessionEnd(bed);
    assertEquals([status, exit_code, ended_by], ["crashed", 1, "crashed"]);
    assertNothingLeft(bed);
  });
}
