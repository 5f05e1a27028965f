import { assert, assertEquals } from "@std/assert";
import { ProcessTree } from "../../src/hull/mod.ts";
import type { SpawnPayload } from "../../src/protocol/control/mod.ts";
import { recordEnding } from "../../src/session/mod.ts";
import { type SessionChild, Supervisor } from "../../src/supervisor/tree/mod.ts";
import { type Bed, forExecutable } from "../harness.ts";
import { childrenOf } from "../processes.ts";
import { prepareGuest, waitForText } from "./running_session.ts";
import { seenOf, textsBelow } from "./seen_secrets.ts";

const SECRET = "hunter2-in-the-clear";

/** A supervisor that keeps all that it is told, by every way there is. */
class Tree implements AsyncDisposable {
  readonly told: unknown[] = [];
  readonly processes = ProcessTree.open();
  readonly supervisor = new Supervisor({
    treeTokens: 1_000,
    ports: {
      processes: this.processes,
      notice: (_, notice) => this.told.push(notice),
      log: (_, line) => this.told.push(line),
    },
  });

  async [Symbol.asyncDispose](): Promise<void> {
    await this.supervisor[Symbol.asyncDispose]();
    this.processes.close();
  }
}

/** What a command is refused for, each full of what is secret. */
const REFUSED: Partial<SpawnPayload> = {
  output_contract: SECRET,
  context_seed: [{ role: "user", content: SECRET }],
  intelligence: { uri: `https://${SECRET}.example`, token: SECRET, headers: [["x-key", SECRET]] },
  mcp_servers: [{ name: "files", url: `https://${SECRET}.example`, token: SECRET, headers: [["x-key", SECRET]] }],
  a2a_peers: [{ name: "peer", url: "https://peer.example", token: SECRET, headers: [] }],
};

async function spawn(tree: Tree, bed: Bed, source: string, change: (payload: SpawnPayload) => SpawnPayload) {
  const task = { instruction: `do ${SECRET}`, args: [source] };
  const options = { task, grants: { env: ["TOKEN"] }, envValues: { TOKEN: SECRET } };
  const prepared = await prepareGuest(bed, "probe", options);
  const launch = { ...prepared.launch, payload: change(prepared.launch.payload) };
  const child = tree.supervisor.spawn({ limits: launch.payload.limits, role: "command", prepare: () => launch });
  assert(child.kind === "child");
  return { child, prepared };
}

/** Waits for the ending and records it as a supervisor does. */
async function finish(
  { child, prepared }: { child: SessionChild; prepared: Awaited<ReturnType<typeof prepareGuest>> },
) {
  const ending = await child.ended;
  recordEnding(prepared.places, ending);
  prepared[Symbol.dispose]();
  return ending;
}

forExecutable(
  "supervised session: what is secret in its frames is in no process's arguments or environment, no notice, log, record or error",
  async (bed) => {
    await using tree = new Tree();
    const up = 'print("up"); printError("up " + Object.keys(env)); for (;;);';
    const stopped = await spawn(tree, bed, up, (payload) => payload);
    await waitForText(`${stopped.prepared.places.runtime}/logs/stderr.log`, "up TOKEN");
    const { child } = stopped;
    assertEquals(childrenOf(child.node().pid).length, 1);
    const seen = [seenOf(child.node().pid), JSON.stringify(tree.supervisor.list())];
    assertEquals(child.swap({ uri: `https://${SECRET}`, token: SECRET, policy: "finish-on-old" }), "done");
    assertEquals([child.inject(SECRET), child.reply("n", SECRET)], ["not_warm", "not_open"]);
    while (!JSON.stringify(tree.told).includes("intel.swap.reject")) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    Deno.kill(child.node().pid, "SIGKILL");
    const endings = [await finish(stopped)];
    // What a session cannot use, each beside a secret: its own words about it reach its supervisor's record.
    const broken: readonly [(payload: SpawnPayload) => unknown, string][] = [
      [(payload) => ({ ...payload, telemetry: { ...payload.telemetry, log_level: SECRET } }), "crashed"],
      [(payload) => ({ ...payload, places: { ...payload.places, root: `/${SECRET}` } }), "crashed"],
      [(payload) => ({ ...payload, mcp_servers: [{ name: SECRET }] }), "crashed"],
      [(payload) => ({ ...payload, env: [[SECRET]] }), "crashed"],
      [(payload) => ({ ...payload, ...REFUSED }), "failed"],
      [(payload) => ({ ...payload, upstream: { proxy: `http://u:${SECRET}@proxy.example` } }), "failed"],
    ];
    for (const [change, status] of broken) {
      const ending = await finish(await spawn(tree, bed, up, (payload) => change(payload) as SpawnPayload));
      assertEquals(ending.status, status, JSON.stringify(ending));
      assert(`${ending.tail}${ending.error?.code}`.length > 20, "it says nothing");
      endings.push(ending);
    }
    seen.push(JSON.stringify(endings), JSON.stringify(tree.told), textsBelow(bed.home), textsBelow(`${bed.root}/run`));
    for (const verb of [["sessions", "--json"], ["ps", "--json"], ["trace", "show", "--json"], ["logs"]]) {
      const { stdout, stderr } = await bed.run(verb);
      seen.push(stdout, stderr);
    }
    for (const text of seen) assert(!text.includes(SECRET), text.slice(text.indexOf(SECRET) - 200).slice(0, 400));
    assert(seen.join().includes("intel.swap.reject") && seen.join().includes("TOKEN"), "nothing was looked at");
  },
);
