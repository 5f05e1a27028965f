import { assertEquals } from "@std/assert";
import { Bed, fixture, type RunResult } from "../harness.ts";
import { childrenOf } from "../processes.ts";
import { collect, type RunningBoll } from "../running_boll.ts";
import { waitForLog } from "../behaviour/running_service.ts";
import { assertNothingLeft } from "../process/leftovers.ts";
import { sessionEnd } from "../process/limited_run.ts";
import { warmGuest } from "../warm_cache.ts";

/** In a process namespace of its own, `boll` is process 1: as the entrypoint of a container. */
const UNSHARE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"] as const;

function startFirst(bed: Bed, args: readonly string[]): RunningBoll {
  return bed.startCommand([...UNSHARE, ...bed.command(args)], { stdin: { open: true } });
}

const isPossible =
  new Deno.Command("unshare", { args: [...UNSHARE.slice(1), "true"], stderr: "null" }).outputSync().success;

function firstProcessTest(name: string, body: (bed: Bed) => Promise<void>): void {
  const note = isPossible ? "" : " (NOT RUN: no namespaces here)";
  Deno.test({
    name: `first process: ${name}${note}`,
    ignore: !isPossible,
    async fn() {
      await using bed = new Bed("binary");
      await body(bed);
    },
  });
}

firstProcessTest("boll as process 1 runs, and ends by a signal", async (bed) => {
  const [hello, probe] = [await warmGuest(bed, "hello_stdio"), await warmGuest(bed, "probe")];
  const done: RunResult = await collect(startFirst(bed, ["run", hello]));
  assertEquals([done.code, done.stdout, done.stderr], [0, "hello from wasm\n", ""]);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const running = startFirst(bed, ["run", probe, "--", 'print("up"); readStdin()']);
    await running.stdout.waitFor("up\n");
    const [first] = childrenOf(running.child.pid);
    Deno.kill(first!, signal);
    assertEquals((await running.result()).code, 130);
    assertEquals([sessionEnd(bed).status, sessionEnd(bed).ended_by], ["cancelled", "interrupted"]);
  }
});

firstProcessTest("a service drains on SIGTERM, and collects who was left to it", async (bed) => {
  const capsule = await fixture("served_probe");
  const running = startFirst(bed, ["serve-http", capsule, "--listen", "0", "--cells", "1"]);
  const [url] = /http:\/\/\S+?:\d+/.exec(await running.stdout.waitFor("\n"))!;
  const [first] = childrenOf(running.child.pid);
  // Its own parent ends before it does: it comes to process 1.
  const orphan = new Deno.Command("nsenter", {
    args: ["--pid", `--target=${first}`, "sh", "-c", "sleep 0.1 >&- & echo $!"],
    stdout: "piped",
    stderr: "piped",
  }).outputSync();
  assertEquals(orphan.code, 0, new TextDecoder().decode(orphan.stderr));
  while (childrenOf(first!).length !== 1) await new Promise((resolve) => setTimeout(resolve, 5));
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  const slow = fetch(`${url}/wait?500-slow`, { client }).then((response) => response.text());
  await waitForLog(bed, "500-slow");
  Deno.kill(first!, "SIGTERM");
  await slow;
  const { code, stderr } = await running.result();
  assertEquals([code, stderr], [0, ""]);
  assertEquals([sessionEnd(bed).status, sessionEnd(bed).ended_by], ["completed", "guest"]);
  assertNothingLeft(bed);
});
