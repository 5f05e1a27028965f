/** How `boll serve` ends when what it ends does not go by itself, and before it has begun. */
import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { forExecutable } from "../harness.ts";
import { childrenOf, environmentOf } from "../processes.ts";
import { assertNothingLeft, waitForNoProcess } from "./leftovers.ts";
import { serve, servedProbe } from "./served.ts";

forExecutable(
  "serve: a session that hears nothing is asked, told and killed after one signal, and named; its task has failed",
  async (bed) => {
    const flags = ["--name", "deaf"];
    const served = await serve(bed, { flags });
    const { id } = await served.submit(`printError("at work"); for (;;) {}`);
    await served.untilLogged("at work");
    const session = served.sessionPid;
    Deno.kill(session, "SIGSTOP");
    served.running.child.kill("SIGTERM");
    // SIGTERM waits in a process that is stopped: the kernel shows it until SIGKILL takes the process.
    await untilPending(session, 15);
    const { code, json } = await served.running.result();
    assertEquals([code, json?.["status"], json?.["detail"]], [1, "crashed", KILLED]);
    served.close();
    await waitForNoProcess(bed);
    const summary = JSON.parse(Deno.readTextFileSync(join(served.folder, "records", "summary.json")));
    assertEquals([summary.status, summary.exit_code], ["crashed", 1]);
    const next = await serve(bed, { capsule: join(bed.root, "files", "served"), flags });
    assertEquals((await next.get(id)).status.state, "TASK_STATE_FAILED");
    assertEquals(await next.stop(), 0);
    assertNothingLeft(bed);
  },
);

forExecutable("serve: Ctrl-C while its component is built ends it with nothing left behind", async (bed) => {
  const capsule = await servedProbe(bed);
  Deno.removeSync(`${bed.home}/cache`, { recursive: true });
  const running = bed.start(["serve", capsule, "--accept"]);
  for (let builders: number[] = []; builders.length === 0;) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    // Not before it is the cell: until then the process that makes it waits for it.
    builders = childrenOf(running.child.pid).filter(isCell);
    for (const pid of builders) Deno.kill(pid, "SIGSTOP");
  }
  running.child.kill("SIGINT");
  const { code, stdout, lastLine } = await running.result();
  assertEquals([code, stdout, lastLine], [130, "", "boll: interrupted"]);
  assertEquals(sessionsOf(bed.home), []);
  assertEquals([...Deno.readDirSync(`${bed.home}/cache`)].map(({ name }) => name), []);
  assertNothingLeft(bed);
});

function isCell(pid: number): boolean {
  try {
    return environmentOf(pid)["BOLL_CHILD"] === "cell";
  } catch {
    return false;
  }
}

const KILLED = "the session was ended by SIGKILL without a result: it was asked to end, and did not";

/** Waits until the signal of that number waits in a process. */
async function untilPending(pid: number, signal: number): Promise<void> {
  for (;;) {
    const [, mask] = /^ShdPnd:\s*([0-9a-f]+)$/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`)) ?? [];
    assert(mask !== undefined);
    if ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function sessionsOf(home: string): string[] {
  try {
    return [...Deno.readDirSync(`${home}/sessions`)].map(({ name }) => name);
  } catch {
    return [];
  }
}
