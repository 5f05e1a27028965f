import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { type Bed, forExecutable } from "../harness.ts";
import { warmGuest } from "../warm_cache.ts";
import { DelegatingWorkspace } from "./delegating_workspace.ts";
import { assertNothingLeft } from "./leftovers.ts";

/** An agent of the workspace, whose tools are the probe. */
async function agentIn(
  bed: Bed,
  workspace: DelegatingWorkspace,
  { tools, grants = {} }: { tools: readonly Record<string, unknown>[]; grants?: Record<string, unknown> },
): Promise<string> {
  const folder = join(workspace.root, "agent");
  Deno.mkdirSync(folder);
  Deno.copyFileSync(await warmGuest(bed, "tool_probe"), join(folder, "tool.wasm"));
  Deno.writeTextFileSync(join(folder, "playbook.json"), '{"turns":[]}');
  const manifest = {
    name: "agent",
    version: "0.1.0",
    inference: { dialect: "scripted", uri: "playbook.json" },
    tools: tools.map((tool) => ({ component: "tool.wasm", ...tool })),
    grants,
  };
  Deno.writeTextFileSync(join(folder, "capsule.jsonc"), JSON.stringify(manifest));
  return folder;
}

forExecutable("boll tool: a tool delegates as its agent would, below a supervisor of its own", async (bed) => {
  const workspace = new DelegatingWorkspace(bed);
  await workspace.capsule("worker", { guest: "probe", source: `print("did " + readStdin())` });
  const tools = [{ name: "probe" }, { name: "less", grants: { spawn: ["worker"], clocks: true, env: [] } }];
  const grants = { spawn: ["worker"], env: ["LANG"] };
  const agent = await agentIn(bed, workspace, { tools, grants });
  await workspace.lock();
  const input = JSON.stringify({ do: "delegate", capsule: "worker", task: "this" });
  const delegated = await bed.run(["tool", agent, "probe", input, "--accept"]);
  assertEquals(delegated.code, 0, delegated.stderr);
  assertStringIncludes(delegated.stdout, "<untrusted-content source=delegation:worker");
  assertStringIncludes(delegated.stdout, "did this");
  const [parent] = bed.sessions().filter((folder) =>
    Deno.readTextFileSync(join(folder, "records", "trace.jsonl")).includes('"tool_call"')
  );
  assertMatch(Deno.readTextFileSync(join(parent!, "records", "trace.jsonl")), /"delegation_start"/);
  const refused = await bed.run(["tool", agent, "less", input, "--accept"]);
  assertEquals(refused.code, 1);
  assertMatch(refused.stderr, /narrower than its capsule/);
  const unknown = JSON.stringify({ do: "delegate", capsule: "stranger" });
  const other = await bed.run(["tool", agent, "probe", unknown, "--accept"]);
  assertEquals(other.code, 1);
  assertMatch(other.stderr, /stranger/);
  assertNothingLeft(bed);
});

forExecutable(
  "boll tool: Ctrl-C and boll stop end it, whether its tool waits or loops, and nothing is left",
  async (bed) => {
    const workspace = new DelegatingWorkspace(bed);
    const agent = await agentIn(bed, workspace, { tools: [{ name: "probe" }] });
    for (const busy of [{ do: "loop", text: "on" }, { do: "sleep", ms: 60_000 }]) {
      const running = bed.start(["tool", agent, "probe", JSON.stringify(busy), "--accept", "--json"]);
      await untilCalled(bed);
      running.child.kill("SIGINT");
      const { code, stderr } = await running.result();
      const ended = JSON.parse(stderr.trim().split("\n").at(-1)!);
      assertEquals([code, ended.status, ended.ended_by], [130, "cancelled", "interrupted"]);
      const again = bed.start(["tool", agent, "probe", JSON.stringify(busy), "--accept", "--json"]);
      const id = await untilCalled(bed);
      const { stdout } = await bed.run(["ps", "--json"]);
      assertEquals(JSON.parse(stdout.trim().split("\n")[0]!).session_id, id);
      assertEquals((await bed.run(["stop", id])).code, 0);
      const stopped = await again.result();
      assertEquals(JSON.parse(stopped.stderr.trim().split("\n").at(-1)!).ended_by, "terminated");
      assertNothingLeft(bed);
    }
  },
);

/** Waits until the newest session's cell stands, and gives its id. */
async function untilCalled(bed: Bed): Promise<string> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    try {
      const events = bed.trace();
      if (events.at(-1)?.event === "walls") return String(events[0]?.["session_id"]);
    } catch { /* not there yet */ }
  }
}
