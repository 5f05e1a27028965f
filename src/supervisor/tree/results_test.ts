import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { FIRST_ANSWER, type ResultsReport, type ResultsTask, writeAnswering } from "./results_fixture.ts";

/** How many sessions end in all, which can be set; below how many supervisors, and how many at once below each. */
const SESSIONS = Number(Deno.env.get("BOLL_TEST_RESULTS") ?? "10000");
const SUPERVISORS = 4;
const AT_ONCE = 4;

const CONFIG = fromFileUrl(new URL("../../../deno.json", import.meta.url));
const FIXTURE = fromFileUrl(new URL("./results_fixture.ts", import.meta.url));

/** Keeps every core busy, and lets go of it for what else there is to run. */
function startLoad(): Deno.ChildProcess[] {
  const args = ["-n", "19", "/bin/sh", "-c", "while :; do :; done"];
  return Array.from(
    { length: navigator.hardwareConcurrency },
    () => new Deno.Command("nice", { args, stdout: "null", stderr: "null" }).spawn(),
  );
}

/** A process is started while its starter stands still: several of them overlap where one would wait. */
async function runSupervisor(task: ResultsTask): Promise<ResultsReport> {
  const args = ["run", "-A", "--no-check", "--cached-only", "--quiet", `--config=${CONFIG}`, FIXTURE];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: [...args, JSON.stringify(task)] })
    .output();
  const said = new TextDecoder().decode(stdout);
  return said === "" ? { lost: [new TextDecoder().decode(stderr)], records: 0, reservations: 0 } : JSON.parse(said);
}

Deno.test("Supervisor: of ten thousand sessions that tell their result and go at once, with every core busy, no result is lost", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "boll-results-" });
  const program = writeAnswering(folder);
  const load = startLoad();
  try {
    const sessions = Math.ceil(SESSIONS / SUPERVISORS);
    const reports = await Promise.all(
      Array.from({ length: SUPERVISORS }, (_, i) => {
        const first = FIRST_ANSWER + i * sessions;
        return runSupervisor({ ...(program !== undefined && { program }), first, sessions, atOnce: AT_ONCE });
      }),
    );
    assertEquals(reports, Array(SUPERVISORS).fill({ lost: [], records: sessions, reservations: 0 }));
  } finally {
    for (const process of load) process.kill("SIGKILL");
    await Promise.all(load.map(({ status }) => status));
    Deno.removeSync(folder, { recursive: true });
  }
});
