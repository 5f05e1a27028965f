import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { Bed, forExecutable, forMode, type RunResult } from "../harness.ts";
import { childrenOf, environmentOf, peakMemoryBytes, statusField } from "../processes.ts";
import type { RunningBoll } from "../running_boll.ts";
import { diskTest, SmallDisk } from "../storms/small_disk.ts";
import { DelegatingWorkspace } from "./delegating_workspace.ts";
import { readHandedOver, recordOf, sessionIds } from "./delegation_records.ts";

/** Far below what an answer of 1 GiB takes, and above what a process takes by itself, in either mode. */
const FLAT_BYTES = 320 * 1024 * 1024;

/** A child that says nothing on its stdout, leaves what `leave` makes in its work folder, and ends when it is told to. */
const quietly = (leave: string) => `
  makeFolder("/workdir/out");
  ${leave}
  writeFile("/workdir/up", "");
  while (attempt(() => stat("/workdir/go")).err) monotonicClock.subscribeDuration(1e7).block();
  exit(0);
`;

/** A run whose guest waits for one child, which waits for us. */
interface Waiting {
  readonly run: RunningBoll;
  /** The child's session, and its work folder. */
  readonly session: string;
  readonly work: string;
  /** The pid of the child's session process. */
  readonly child: number;
  /** Lets the child end. */
  go(): void;
}

/** Starts a run in which `asker` waits for `worker`; it comes back when the child has left what it leaves. */
async function startWaiting(bed: Bed, leave: string, env: Record<string, string> = {}): Promise<Waiting> {
  const space = new DelegatingWorkspace(bed);
  const fs = { work: "rw" };
  await space.capsule("asker", { grants: { spawn: ["worker"], fs } });
  await space.capsule("worker", { guest: "probe", grants: { fs }, source: quietly(leave) });
  await space.lock();
  const source = `const told = waitFor(delegate()); print(JSON.stringify(told)); readStdin(); return told`;
  const run = bed.start(space.command("asker", source), { stdin: { open: true }, env });
  const home = env["BOLL_HOME"] ?? bed.home;
  const session = await until(run, () => childSession(home));
  const work = join(home, "sessions", session, "work");
  await until(run, () => names(work).includes("up") || undefined);
  const child = await until(run, () => sessionOf(run.child.pid));
  return { run, session, work, child, go: () => Deno.writeTextFileSync(join(work, "go"), "") };
}

/** What the parent read, once the run has ended well. */
async function toldOf({ run }: Waiting): Promise<RunResult & { told: ReturnType<typeof readHandedOver> }> {
  await run.stdout.waitFor("[delegate-task]");
  await run.closeStdin();
  const result = await run.result();
  assertEquals(result.code, 0, result.stderr);
  return { ...result, told: readHandedOver(JSON.parse(result.stdout.split("\n")[0]!)) };
}

forExecutable("boll run: a child that says nothing is answered for by what it left in its work folder", async (bed) => {
  const waiting = await startWaiting(bed, `writeFile("/workdir/out/result.txt", "from the work folder")`);
  waiting.go();
  const { told, stderr } = await toldOf(waiting);
  assertEquals([told.status, told.result, stderr], ["ok", "from the work folder", ""]);
});

forMode("binary", "boll run: a child's answer of 1 GiB is cut and not kept, in flat memory everywhere", async (bed) => {
  const leave = `open("/workdir/out/result.txt", { write: true, create: true }).setSize(2 ** 30)`;
  const waiting = await startWaiting(bed, leave);
  const size = Deno.statSync(join(waiting.work, "out/result.txt")).size;
  assertEquals(size, 2 ** 30);
  waiting.go();
  await waiting.run.stdout.waitFor("[delegate-task]");
  const supervisor = peakMemoryBytes(waiting.run.child.pid);
  const { told } = await toldOf(waiting);
  assertStringIncludes(told.result, `[cut at 65536 of ${2 ** 30} bytes; not kept: too large]`);
  assert(supervisor < FLAT_BYTES, `the supervisor took ${supervisor} bytes`);
  assertEquals(names(join(bed.sessions()[0]!, "runtime/delegations")), []);
});

forMode("binary", "boll run: a child's session takes no more memory for 10 MiB than it is given", async (bed) => {
  const space = new DelegatingWorkspace(bed);
  await space.capsule("asker", { grants: { spawn: ["worker"] } });
  const source = `for (let at = 0; at < 9; at++) print("x".repeat(2 ** 20)); printError("up"); for (;;);`;
  await space.capsule("worker", { guest: "probe", source });
  await space.lock();
  const run = bed.start(space.command("asker", `waitFor(delegate())`));
  const session = await until(run, () => childSession(bed.home));
  await until(
    run,
    () => text(join(bed.home, "sessions", session, "runtime/logs/stderr.log")).includes("up") || undefined,
  );
  const peaks = [run.child.pid, sessionOf(run.child.pid)!].map(peakMemoryBytes);
  assert(Math.max(...peaks) < FLAT_BYTES, `supervisor and session took ${peaks} bytes`);
  assertEquals((await bed.run(["stop", "0.1"])).code, 0);
  const result = await run.result();
  const told = readHandedOver(JSON.parse(result.stdout));
  assertEquals(told.status, "terminated");
  assertStringIncludes(told.result, `[cut at 65536 of ${9 * (2 ** 20 + 1)} bytes; the whole answer is delegations/`);
  const kept = Deno.statSync(join(bed.sessions()[0]!, "runtime/delegations", `${told.id}.txt`));
  assertEquals(kept.size, 9 * (2 ** 20 + 1));
});

/** What stands in the place of the answer → whether it is said that something was refused there. */
const PLANTED: Readonly<Record<string, { plant(path: string, secret: string): void; isTold: boolean }>> = {
  "a link": { plant: (path, secret) => Deno.symlinkSync(secret, path), isTold: true },
  "a pipe": { plant: (path) => tool("mkfifo", path), isTold: false },
  "a folder": { plant: (path) => Deno.mkdirSync(path), isTold: false },
  "a link for its folder": {
    plant(path, secret) {
      Deno.removeSync(join(path, ".."), { recursive: true });
      Deno.symlinkSync(join(secret, ".."), join(path, ".."));
    },
    isTold: true,
  },
};

for (const [what, { plant, isTold }] of Object.entries(PLANTED)) {
  forMode("binary", `boll run: ${what} in the place of a child's answer is no answer, and never read`, async (bed) => {
    const secret = bed.folder("secret", { "result.txt": "SECRET" });
    const waiting = await startWaiting(bed, "");
    plant(join(waiting.work, "out/result.txt"), join(secret, "result.txt"));
    waiting.go();
    const { told, stdout, stderr } = await toldOf(waiting);
    assertEquals([told.status, told.result], ["ok", "none (the child wrote no result file)"]);
    assertEquals(stdout.includes("SECRET"), false);
    if (isTold) assertMatch(stderr, /^boll: warning: Read the answer of ses_\w+: refused \/.*\/work\/out/);
    else assertEquals(stderr, "");
  });
}

forExecutable("boll run: an answer that goes between its child's end and its reading is none", async (bed) => {
  const waiting = await startWaiting(bed, `writeFile("/workdir/out/result.txt", "soon gone")`);
  const { run, child } = waiting;
  run.child.kill("SIGSTOP");
  waiting.go();
  await until(run, () => isDead(child) || undefined);
  Deno.removeSync(join(waiting.work, "out/result.txt"));
  run.child.kill("SIGCONT");
  const { told } = await toldOf(waiting);
  assertEquals([told.status, told.result], ["ok", "none (the child wrote no result file)"]);
  assertEquals(recordOf(bed, waiting.session, "completion")["status"], "ok");
});

forMode(
  "binary",
  "boll run: a slow child ends at its deadline, and its parent reads that and what it left",
  async (bed) => {
    const space = new DelegatingWorkspace(bed);
    await space.capsule("asker", { grants: { spawn: ["worker"] } });
    await space.capsule("worker", { guest: "probe", source: `print("begun"); for (;;);` });
    await space.lock();
    const { code, value, stderr } = await space.run("asker", `waitFor(delegate({ deadlineMs: 4000 }))`);
    assertEquals(code, 0, stderr);
    const told = readHandedOver(value);
    assertEquals([told.status, told.detail], ["terminated", "ended at the delegation deadline"]);
    assertEquals(told.result, "begun\n");
    const [, child] = sessionIds(bed);
    const { status, detail, reported_by } = recordOf(bed, child!, "completion");
    assertEquals([status, detail, reported_by], ["terminated", "ended at the delegation deadline", "launcher"]);
    assertEquals(recordOf(bed, child!, "summary")["status"], "deadline");
  },
);

for (const blocks of [12, 0]) {
  diskTest(
    `boll run: with ${blocks} blocks left on the disk a long answer is handed over cut, with why it is not kept`,
    async () => {
      await using bed = new Bed("binary");
      using disk = new SmallDisk(join(bed.root, "disk"));
      const env = { BOLL_HOME: join(disk.path, "home") };
      const leave = `writeFile("/workdir/out/result.txt", "y".repeat(200000))`;
      const waiting = await startWaiting(bed, leave, env);
      disk.leave({ blocks });
      waiting.go();
      const { told, stderr } = await toldOf(waiting);
      assertEquals(told.status, "ok");
      assertMatch(told.result, /^y{65536}\n\[…\]\n\[cut at 65536 of 200000 bytes; not kept: the disk is full\]$/);
      if (blocks > 0) assertEquals(stderr, "");
    },
  );
}

/** Waits until there is something, while the run goes on; the disk or the kernel is asked again and again. */
async function until<T>(run: RunningBoll, look: () => T | undefined): Promise<T> {
  let isOver = false;
  run.child.status.then(() => isOver = true);
  for (let found = look();; found = look()) {
    if (found !== undefined) return found;
    if (isOver) throw new Error(`Wait for a child: the run ended with ${run.stderr.text}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The second session of a home: what is being made has another name. */
function childSession(home: string): string | undefined {
  return names(join(home, "sessions")).filter((name) => name.startsWith("ses_")).sort()[1];
}

function names(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch {
    return []; // not there yet
  }
}

function text(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return ""; // not there yet
  }
}

function tool(program: string, ...args: string[]): void {
  const { success } = new Deno.Command(program, { args }).outputSync();
  assert(success, program);
}

/** The session process that a run has started. */
function sessionOf(main: number): number | undefined {
  try {
    return childrenOf(main).find((pid) => environmentOf(pid)["BOLL_CHILD"] === "session");
  } catch {
    return undefined; // one of them has ended
  }
}

/** Gone, or dead and not yet collected. */
function isDead(pid: number): boolean {
  try {
    return statusField(pid, "State").startsWith("Z");
  } catch {
    return true;
  }
}
