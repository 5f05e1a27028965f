import { assertEquals } from "@std/assert";
import { forMode } from "../harness.ts";
import { statusField } from "../processes.ts";
import { startProbe } from "../process/guest_run.ts";
import { assertNothingLeft } from "../process/leftovers.ts";
import { sessionEnd } from "../process/limited_run.ts";

forMode(
  "binary",
  "stop: boll, its cell, or both are stopped and go on, and the run ends as its guest does",
  async (bed) => {
    for (const [who, source] of [["main", "readStdin()"], ["cell", "readStdin()"], ["both", "readStdin()"]] as const) {
      const { running, main, cell } = await startProbe(bed, `${source}; print("done"); exit(3)`);
      const stopped = { main: [main], cell: [cell], both: [main, cell] }[who];
      for (const pid of stopped) Deno.kill(pid, "SIGSTOP");
      for (const pid of stopped) {
        while (!statusField(pid, "State").startsWith("T")) await new Promise((go) => setTimeout(go, 1));
      }
      await running.closeStdin();
      for (const pid of stopped) Deno.kill(pid, "SIGCONT");
      const { code, stdout } = await running.result();
      assertEquals([code, stdout], [3, "up\ndone\n"], who);
      assertEquals([sessionEnd(bed).status, sessionEnd(bed).ended_by], ["failed", "guest"]);
      assertNothingLeft(bed);
    }
  },
);

forMode("binary", "stop: a stopped cell ends at its deadline, and with a signal to boll, all the same", async (bed) => {
  const late = await startProbe(bed, "readStdin()", ["--deadline", "500ms"]);
  Deno.kill(late.cell, "SIGSTOP");
  assertEquals((await late.running.result()).code, 124);
  assertNothingLeft(bed);
  const interrupted = await startProbe(bed, "readStdin()");
  Deno.kill(interrupted.cell, "SIGSTOP");
  interrupted.running.child.kill("SIGTERM");
  assertEquals((await interrupted.running.result()).code, 130);
  assertNothingLeft(bed);
});
