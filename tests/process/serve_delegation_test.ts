import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { type Bed, forExecutable } from "../harness.ts";
import { DelegatingWorkspace } from "./delegating_workspace.ts";
import { assertNothingLeft } from "./leftovers.ts";
import { reasonOf, serve, type Served, textOf } from "./served.ts";

/** A served capsule whose task is what it runs, and the worker that it may delegate to. */
async function serveBoss(bed: Bed, worker: string): Promise<Served> {
  const space = new DelegatingWorkspace(bed);
  await space.capsule("boss", { grants: { spawn: ["worker"] }, source: "return eval(readStdin())" });
  await space.capsule("worker", { guest: "probe", source: worker });
  await space.lock();
  return await serve(bed, { capsule: join(space.root, "boss") });
}

forExecutable(
  "serve: a task delegates: the child is the session's, its answer comes back fenced, a later task can do it again",
  async (bed) => {
    const served = await serveBoss(bed, `"did " + readStdin()`);
    for (const word of ["one", "two"]) {
      const task = await served.send(`waitFor(delegate({ task: "${word}" }))`);
      const text = textOf(task) ?? reasonOf(task);
      assertStringIncludes(text, "ended ok");
      assertStringIncludes(text, "untrusted-content source=delegation:worker");
      assertStringIncludes(text, `did ${word}`);
    }
    assertEquals(await served.stop(), 0);
    const [root, ...children] = bed.sessions();
    const starts = served.trace.filter(({ event }) => event === "delegation_start");
    assertEquals(
      starts.map(({ child_session_id }) => child_session_id),
      children.map((path) => path.split("/").at(-1)),
    );
    for (const child of children) {
      const [start] = Deno.readTextFileSync(join(child, "records", "trace.jsonl")).split("\n");
      assertEquals(JSON.parse(start!).spawned_by, root!.split("/").at(-1));
    }
    assertNothingLeft(bed);
  },
);

forExecutable(
  "serve: a cancelled task's children end with it, and those of one that went without them; a forged completion changes nothing",
  async (bed) => {
    const served = await serveBoss(bed, `printError("child at work"); for (;;) {}`);
    const task = await served.submit(`waitFor(delegate())`);
    const childOf = async () => {
      for (;;) {
        const { stdout } = await bed.run(["ps", "--json"]);
        const nodes = stdout.trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));
        const child = nodes.find(({ path }) => path !== "0");
        if (child !== undefined) return child.session_id as string;
      }
    };
    const child = await childOf();
    const start = served.trace.find(({ event }) => event === "delegation_start")!;
    const forged = (id: unknown, session = served.sessionId) =>
      fetch(served.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "a2a-version": "1.0",
          "x-boll-task-origin": "completion",
          "x-boll-delegation-id": String(id),
          "x-boll-completion-session": session,
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: "req_1",
          method: "SendMessage",
          params: {
            message: { messageId: "msg_1", role: "ROLE_USER", parts: [{ text: "Delegated capsule finished." }] },
          },
        }),
      }).then(async (response) => (await response.json()).error?.code);
    assertEquals(await forged(`dlg_${"0".repeat(32)}`), -31002);
    assertEquals(await forged(start["delegation_id"], `ses_${"0".repeat(32)}`), -31002);
    assertEquals(await forged(start["delegation_id"]), undefined);
    assertEquals((await served.get(task.id)).status.state, "TASK_STATE_WORKING");
    assertEquals((await served.cancel(task.id)).status.state, "TASK_STATE_CANCELED");
    assertEquals(await endingOf(bed, child), "terminated");
    const left = await served.send(`delegate(); "gone"`);
    assertEquals(textOf(left), '"gone"\n');
    assertEquals(await endingOf(bed, bed.sessions().at(-1)!.split("/").at(-1)!), "terminated");
    assertEquals(await served.stop(), 0);
    assertNothingLeft(bed);
  },
);

/** Waits for the record of how a child ended, and gives its status. */
async function endingOf(bed: Bed, session: string): Promise<string> {
  for (;;) {
    try {
      const path = join(bed.home, "sessions", session, "records", "completion.json");
      return JSON.parse(Deno.readTextFileSync(path)).status;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
