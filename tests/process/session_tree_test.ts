import { assertEquals, assertStringIncludes } from "@std/assert";
import { ProcessTree } from "../../src/hull/mod.ts";
import { type Notice, Supervisor } from "../../src/supervisor/tree/mod.ts";
import { type Bed, forExecutable } from "../harness.ts";
import { childrenOf, waitForEnd } from "../processes.ts";
import { prepareGuest } from "./running_session.ts";

/** A supervisor whose notices can be waited for by name. */
class Tree implements AsyncDisposable {
  readonly processes = ProcessTree.open();
  readonly supervisor: Supervisor;
  readonly #heard: string[] = [];
  #changed = Promise.withResolvers<void>();

  constructor() {
    this.supervisor = new Supervisor({
      treeTokens: 1_000,
      ports: { processes: this.processes, notice: (_, notice) => this.#hear(notice) },
    });
  }

  async spawn(bed: Bed, guest: string, instruction: string) {
    const prepared = await prepareGuest(bed, guest, { task: { instruction } });
    const { limits } = prepared.launch.payload;
    const child = this.supervisor.spawn({ limits, role: "command", prepare: () => prepared.launch });
    if (child.kind === "refused") throw new Error(child.message);
    return { child, [Symbol.dispose]: () => prepared[Symbol.dispose]() };
  }

  async until(name: string): Promise<void> {
    while (!this.#heard.includes(name)) await this.#changed.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.supervisor[Symbol.asyncDispose]();
    this.processes.close();
  }

  #hear(notice: Notice): void {
    this.#heard.push(notice.kind === "event" ? notice.event : notice.kind);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

forExecutable("session below a supervisor: its answer is its ending, and its places are its own", async (bed) => {
  await using tree = new Tree();
  using started = await tree.spawn(bed, "cat", "what is asked");
  const ending = await started.child.ended;
  assertEquals([ending.status, ending.ended_by, ending.outcome?.result, ending.exit], [
    ...["completed", "guest", "what is asked", { code: 0, signal: null }],
  ]);
  assertEquals([ending.path, ending.session_id.slice(0, 4), ending.survivors], ["0", "ses_", undefined]);
  assertStringIncludes(ending.tail, '"agent_path":"0"');
});

forExecutable("session below a supervisor: held, let go, stopped; killed, it takes its cell along", async (bed) => {
  await using tree = new Tree();
  using stopped = await tree.spawn(bed, "loop", "");
  await tree.until("ready");
  tree.supervisor.act("pause", stopped.child.path);
  await tree.until("loop.paused");
  tree.supervisor.act("resume", stopped.child.path);
  await tree.until("loop.resumed");
  await tree.supervisor.stop(stopped.child.path);
  const ending = await stopped.child.ended;
  assertEquals([ending.status, ending.ended_by, ending.outcome?.status], ["cancelled", "terminated", "cancelled"]);

  using killed = await tree.spawn(bed, "loop", "");
  const { pid } = await untilCell(killed.child);
  const [cell] = childrenOf(pid);
  Deno.kill(pid, "SIGKILL");
  const crash = await killed.child.ended;
  assertEquals([crash.status, crash.exit?.signal], ["crashed", "SIGKILL"]);
  await waitForEnd(cell!);
});

/** The node of a session once its guest has a cell. */
async function untilCell(child: { node(): { pid: number } }): Promise<{ pid: number }> {
  while (true) {
    const node = child.node();
    if (node.pid > 0 && childrenOf(node.pid).length > 0) return node;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
