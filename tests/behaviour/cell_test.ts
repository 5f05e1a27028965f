import { assert, assertEquals } from "@std/assert";
import { type Bed, fixture, forExecutable, forMode, type RunningBoll } from "../harness.ts";
import {
  argumentsOf,
  cellOf,
  childrenOf,
  descriptorsOf,
  environmentOf,
  groupOf,
  statusField,
  waitForEnd,
} from "../processes.ts";

/** A run whose guest is up and waits for its input to end. */
async function waitingRun(bed: Bed, flags: string[] = [], env: Record<string, string> = {}): Promise<RunningBoll> {
  const source = 'print("up"); readStdin()';
  const running = bed.start(["run", await fixture("probe"), ...flags, "--", source], { stdin: { open: true }, env });
  await running.stdout.waitFor("up\n");
  return running;
}

forExecutable(
  "cell: its environment is exactly the named one; no granted value and no secret of the caller is in it",
  async (bed) => {
    const running = await waitingRun(bed, ["--env", "GRANTED=value"], { MY_SECRET: "hidden", LD_PROFILE: "x" });
    const environment = environmentOf(cellOf(running.child.pid));
    const runtime = bed.mode === "source" ? ["DENO_DIR", "DENO_NO_UPDATE_CHECK"] : [];
    assertEquals(
      Object.keys(environment).sort(),
      ["BOLL_CHILD", "BOLL_PARENT_PID", "HOME", "PATH", "TMPDIR", ...runtime].sort(),
    );
    assertEquals(environment.BOLL_CHILD, "cell");
    assertEquals(environment.BOLL_PARENT_PID, String(running.child.pid));
    assertEquals(environment.TMPDIR?.startsWith(`${bed.root}/run/`), true);
    await running.closeStdin();
    assertEquals((await running.result()).code, 0);
  },
);

forExecutable("cell: its arguments name neither the capsule nor the guest's arguments", async (bed) => {
  const running = await waitingRun(bed);
  const words = argumentsOf(cellOf(running.child.pid)).join(" ");
  assert(!words.includes("probe") && !words.includes("readStdin"), words);
  await running.closeStdin();
  await running.result();
});

forExecutable("cell: it is in its caller's process group and has no children", async (bed) => {
  const running = await waitingRun(bed);
  const cell = cellOf(running.child.pid);
  assertEquals(groupOf(cell), groupOf(running.child.pid));
  assertEquals(childrenOf(cell), []);
  await running.closeStdin();
  await running.result();
});

forMode("binary", "cell: a descriptor of the caller does not reach it", async (bed) => {
  const secret = `${bed.folder("open", { "secret.txt": "x" })}/secret.txt`;
  const words = bed.command(["run", await fixture("probe"), "--", 'print("up"); readStdin()']);
  const line = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const shell = new Deno.Command("sh", {
    args: ["-c", `exec 9<'${secret}'; exec ${line}`],
    clearEnv: true,
    env: bed.environment(),
    cwd: bed.root,
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = shell.stdout.getReader();
  await reader.read();
  assert(!Object.values(descriptorsOf(cellOf(shell.pid))).includes(secret));
  await shell.stdin.close();
  while (!(await reader.read()).done);
  assertEquals((await shell.status).code, 0);
});

forExecutable("cell: it dies with its parent, also when its guest never yields", async (bed) => {
  for (const guest of ["block", "loop"]) {
    const running = bed.start(["run", await fixture(guest)]);
    const cell = await untilCell(running);
    running.child.kill("SIGKILL");
    assertEquals((await running.result()).signal, "SIGKILL");
    if (guest === "loop" && bed.mode === "source") Deno.kill(cell, "SIGKILL");
    await waitForEnd(cell);
  }
});

forExecutable("cell: SIGINT and SIGTERM to boll end the run as interrupted, with its record written", async (bed) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const running = await waitingRun(bed);
    const cell = cellOf(running.child.pid);
    running.child.kill(signal);
    assertEquals((await running.result()).code, 130);
    await waitForEnd(cell);
    const last = bed.trace().at(-1);
    assertEquals([last?.event, last?.ended_by, last?.exit_code], ["session_end", "interrupted", 130]);
  }
});

forMode("binary", "cell: the kernel wall stands on every thread while the guest runs", async (bed) => {
  const running = await waitingRun(bed);
  const cell = cellOf(running.child.pid);
  for (const { name: thread } of Deno.readDirSync(`/proc/${cell}/task`)) {
    const read = (field: string) => statusField(Number(thread), field);
    assertEquals([read("NoNewPrivs"), read("Seccomp")], ["1", "2"], `thread ${thread}`);
  }
  await running.closeStdin();
  await running.result();
});

forExecutable("cell: nothing is left in the runtime folder, and the lock is free, after a run", async (bed) => {
  assertEquals((await bed.guest("ok")).code, 0);
  assertEquals((await bed.guest("trap")).code, 1);
  const left: string[] = [];
  for (const { name } of Deno.readDirSync(`${bed.root}/run/boll`)) left.push(name);
  assertEquals(left, []);
});

/** The cell of a guest that says nothing: asked for until it is there. */
async function untilCell(running: RunningBoll): Promise<number> {
  for (;;) {
    const [cell] = childrenOf(running.child.pid);
    // The build cell comes first and has no guest's thread; the run's cell opens no folder for the build.
    if (cell !== undefined && isRunning(cell)) return cell;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function isRunning(pid: number): boolean {
  try {
    return environmentOf(pid).BOLL_CHILD === "cell";
  } catch {
    return false;
  }
}
