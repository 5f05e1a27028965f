import { assertEquals } from "@std/assert";
import { Bed, type RunResult } from "../harness.ts";
import { childrenOf } from "../processes.ts";
import { collect, RunningBoll } from "../running_boll.ts";
import { sessionEnd } from "../process/limited_run.ts";
import { warmGuest } from "../process/warm_cache.ts";

/** In a process namespace of its own, `boll` is process 1: as the entrypoint of a container. */
const UNSHARE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"] as const;

function startFirst(bed: Bed, args: readonly string[]): RunningBoll {
  const [program, ...rest] = [...UNSHARE, ...bed.command(args)];
  const child = new Deno.Command(program!, {
    args: rest,
    cwd: bed.root,
    clearEnv: true,
    env: bed.environment(),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  return new RunningBoll(child, { stdin: { open: true } });
}

const isPossible =
  new Deno.Command("unshare", { args: [...UNSHARE.slice(1), "true"], stderr: "null" }).outputSync().success;

Deno.test({
  name: `first process: boll as process 1 runs, and ends by a signal${
    isPossible ? "" : " (NOT RUN: no namespaces here)"
  }`,
  ignore: !isPossible,
  async fn() {
    await using bed = new Bed("binary");
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
  },
});
