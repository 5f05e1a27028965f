import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { ProcessTree } from "../../hull/mod.ts";
import { SAY_READY, sayResult, shellLaunch, WatchedTree } from "./tree_fixture.ts";

const ignore = Deno.build.os !== "linux";
const FIXTURE = fromFileUrl(new URL("./left_behind_fixture.ts", import.meta.url));
const CONFIG = fromFileUrl(new URL("../../../deno.json", import.meta.url));

/** Lets the test run with a folder in which a process that moved away writes its pid. */
async function withFolder(run: (folder: string, moveAway: string) => Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "boll" });
  try {
    await run(folder, moveAway(folder));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** A script that starts a process in a session of its own, which holds the script's stdout, and waits for its pid. */
function moveAway(folder: string): string {
  const away = `setsid sh -c 'echo $$ > ${folder}/new; mv ${folder}/new ${folder}/pid; exec sleep 60' &`;
  return `${away} while [ ! -e ${folder}/pid ]; do sleep 0.01; done`;
}

function pidIn(folder: string): number {
  return Number(Deno.readTextFileSync(`${folder}/pid`));
}

function isRunning(pid: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return !/^\d+ \(.*\) [ZX]/s.test(stat);
  } catch {
    return false;
  }
}

Deno.test("SessionChild: output that a process in its group holds open does not hold up its ending, and that process goes", async () => {
  await using tree = new WatchedTree();
  const script = `${SAY_READY}; sleep 60 & echo $! >&2; ${sayResult()}`;
  const { status, tail } = await tree.spawn(shellLaunch(script)).ended;
  assertEquals([status, isRunning(Number(tail))], ["completed", false]);
});

Deno.test("SessionChild: output held open by what has moved away is waited for until it was silent for 500 ms", () =>
  withFolder(async (folder, moveAway) => {
    await using tree = new WatchedTree();
    const { status, survivors } = await tree.spawn(shellLaunch(`${SAY_READY}; ${moveAway}; ${sayResult()}`)).ended;
    assertEquals([status, survivors, isRunning(pidIn(folder))], ["completed", undefined, true]);
    Deno.kill(pidIn(folder), "SIGKILL");
  }));

Deno.test("SessionChild: what has moved away and floods the output it holds does not hold up the ending", () =>
  withFolder(async (folder) => {
    await using tree = new WatchedTree();
    const away = `setsid sh -c 'echo $$ > ${folder}/new; mv ${folder}/new ${folder}/pid; exec yes' &`;
    const script = `${SAY_READY}; ${sayResult()}; ${away} while [ ! -e ${folder}/pid ]; do sleep 0.01; done`;
    const { outcome } = await tree.spawn(shellLaunch(script)).ended;
    assertEquals(outcome?.result, "42");
  }));

Deno.test({
  name: "SessionChild: what has moved away is gone with the child, told its result or killed",
  ignore,
  async fn() {
    using processes = ProcessTree.open();
    for (const [rest, wanted] of [[`${sayResult()}; sleep 60`, "completed"], ["sleep 60", "cancelled"]] as const) {
      await withFolder(async (folder, moveAway) => {
        await using tree = new WatchedTree({ ports: { processes } });
        const child = tree.spawn(shellLaunch(`${moveAway}; ${SAY_READY}; ${rest}`));
        await tree.untilReady(child);
        if (wanted === "cancelled") await tree.supervisor.stop(child.path);
        const { status, survivors } = await child.ended;
        assertEquals([status, survivors, isRunning(pidIn(folder))], [wanted, undefined, false]);
      });
    }
  },
});

Deno.test({
  name: "SessionChild: what outlives even SIGKILL is named in its ending",
  ignore,
  async fn() {
    // A process that cannot be killed is not to be had; this one is beyond the highest number there is.
    const unkillable = { pid: 2 ** 22 + 1, started: "1" };
    const processes = {
      descendantsOf: () => [unkillable],
      adopted: () => [],
      isAlive: () => true,
      reapAdopted: () => 0,
    };
    await using tree = new WatchedTree({ ports: { processes } });
    const { status, survivors } = await tree.spawn(shellLaunch(`${SAY_READY}; ${sayResult()}; sleep 60`)).ended;
    assertEquals([status, survivors], ["completed", [unkillable.pid]]);
  },
});

Deno.test({
  name:
    "SessionChild: what a crashed child left behind comes to a supervisor that is a subreaper, which ends and reaps it",
  ignore,
  fn: () =>
    withFolder(async (folder, moveAway) => {
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", "--cached-only", "--quiet", `--config=${CONFIG}`, FIXTURE, moveAway],
      }).output();
      assertEquals(new TextDecoder().decode(stderr), "");
      assertEquals(JSON.parse(new TextDecoder().decode(stdout)), { status: "crashed", left: 0 });
      assertEquals(isRunning(pidIn(folder)), false);
    }),
});
