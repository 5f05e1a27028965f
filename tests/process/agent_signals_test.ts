import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Bed, forExecutable } from "../harness.ts";
import { ModelServer } from "../models/model_server.ts";
import { childrenOf } from "../processes.ts";
import { Terminal } from "../terminal.ts";
import { AgentWorkspace, callOf, tracesOf, type WorkspaceAgent } from "./agent_workspace.ts";
import { assertNothingLeft, processesOf, temporaryFolders, waitForNoProcess } from "./leftovers.ts";

/** Waits until it is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Whether a tool of the newest session has said that it loops. */
function isLooping(bed: Bed): boolean {
  try {
    return Deno.readTextFileSync(`${bed.sessions().at(-1)}/runtime/logs/guest.jsonl`).includes("looping up");
  } catch {
    return false; // not there yet
  }
}

const LOOP = { text: "so far", ...callOf("probe", { do: "loop", text: "up" }) };
const LOOPING: WorkspaceAgent = { turns: [LOOP], tools: { probe: undefined } };

function endsOf(bed: Bed): unknown[] {
  return tracesOf(bed).map((events) => {
    const { event, status, exit_code, ended_by } = events.at(-1)!;
    return event === "session_end" ? [status, exit_code, ended_by] : event;
  });
}

forExecutable(
  "agent signals: Ctrl-C in a terminal ends it in a model's call, in a tool and above a child, with what it had said",
  async (bed) => {
    const workspace = new AgentWorkspace(bed);
    await using model = ModelServer.start({ faults: ["silence"], turns: [{ text: "so far" }] });
    await using below = ModelServer.start({ faults: ["mute"] });
    await workspace.agent("asking", { inference: { uri: model.url, model: "m" } });
    await workspace.agent("looping", LOOPING);
    await workspace.agent("worker", { inference: { uri: below.url, model: "m" } });
    await workspace.agent("lead", {
      turns: [callOf("delegate-task", { capsule: "worker", task: "x" }), { text: "so far" }],
      grants: { spawn: ["worker"] },
    });
    await workspace.lock();
    const cases: [string, () => boolean, number][] = [
      ["asking", () => model.requests.length > 0, 1],
      ["looping", () => isLooping(bed), 1],
      ["lead", () => below.requests.length > 0, 2],
    ];
    for (const [name, isThere, sessions] of cases) {
      const before = name === "asking" ? 0 : tracesOf(bed).length;
      await using terminal = new Terminal(bed.command(workspace.command(name, "the task")), {
        scratch: bed.root,
        cwd: bed.root,
        env: bed.environment(),
      });
      await until(isThere);
      await terminal.type("\x03");
      assertEquals(await terminal.end(), 130, terminal.output.text);
      const ends = endsOf(bed).slice(before);
      assertEquals(ends, Array(sessions).fill(["cancelled", 130, "interrupted"]), name);
      if (name !== "asking") assert(terminal.output.text.includes("so far"), terminal.output.text);
      assertNothingLeft(bed);
    }
  },
);

forExecutable(
  "agent signals: SIGTERM and SIGHUP end it as they end every run; a second SIGINT waits for nobody",
  async (bed) => {
    const workspace = new AgentWorkspace(bed);
    await workspace.agent("looping", LOOPING);
    for (const signal of ["SIGTERM", "SIGHUP"] as const) {
      const before = sessionCount(bed);
      const running = workspace.start("looping", "x");
      await until(() => sessionCount(bed) > before && isLooping(bed));
      running.child.kill(signal);
      const { code, json } = await running.result();
      assertEquals([json?.["status"], code], ["cancelled", 130], signal);
      assertNothingLeft(bed);
    }
    const before = sessionCount(bed);
    const running = workspace.start("looping", "x");
    await until(() => sessionCount(bed) > before && isLooping(bed));
    await until(() => childrenOf(running.child.pid).length > 0);
    for (const pid of childrenOf(running.child.pid)) Deno.kill(pid, "SIGSTOP");
    // Two at once may be heard as one.
    const again = setInterval(() => interrupt(running.child), 50);
    await running.child.status;
    clearInterval(again);
    const { code } = await running.result();
    assertEquals(code, 130);
    assertEquals((endsOf(bed).at(-1) as unknown[])[0], "cancelled");
    assertNothingLeft(bed);
  },
);

forExecutable(
  "agent signals: a session that is killed has crashed, and is recorded with its children; nothing of it is left",
  async (bed) => {
    const workspace = new AgentWorkspace(bed);
    await using below = ModelServer.start({ faults: ["mute"] });
    await workspace.agent("worker", { inference: { uri: below.url, model: "m" } });
    await workspace.agent("lead", {
      turns: [callOf("delegate-task", { capsule: "worker", task: "x" }), LOOP],
      tools: { probe: undefined },
      grants: { spawn: ["worker"] },
    });
    await workspace.lock();
    const running = workspace.start("lead", "x");
    await until(() => below.requests.length > 0);
    const { stdout } = await bed.run(["ps", "--json"]);
    const root = stdout.trim().split("\n").map((line) => JSON.parse(line)).flat().find(({ path }) => path === "0");
    Deno.kill(root.pid, "SIGKILL");
    const { code, stdout: answer, json } = await running.result();
    assertEquals([code, answer, json?.["status"]], [1, "", "crashed"]);
    assertEquals((endsOf(bed)[0] as unknown[])[0], "crashed");
    assertEquals(endsOf(bed)[1], ["cancelled", 130, "interrupted"]);
    assertNothingLeft(bed);
  },
);

forExecutable(
  "agent signals: with its supervisor killed all below it goes, and the next verb says that it crashed",
  async (bed) => {
    const workspace = new AgentWorkspace(bed);
    await workspace.agent("looping", LOOPING);
    const running = workspace.start("looping", "x");
    await until(() => isLooping(bed));
    assert(processesOf(bed).length >= 3);
    running.child.kill("SIGKILL");
    await running.result();
    await waitForNoProcess(bed);
    const { stdout } = await bed.run(["sessions", "--json"]);
    assertMatch(stdout, /"status":\s*"crashed"/);
    assertEquals((endsOf(bed)[0] as unknown[])[0], "crashed");
    await bed.run(["gc"]);
    assertEquals(temporaryFolders(bed), []);
  },
);

forExecutable(
  "agent signals: nobody reads its answer: 141, said in the report alone, and the record is whole",
  async (bed) => {
    const workspace = new AgentWorkspace(bed);
    await workspace.agent("long", { turns: [{ text: "x".repeat(1_000_000) }] });
    const shell = async (text: string) => {
      const line = bed.command(workspace.command("long", "the task")).map((word) => `'${word}'`).join(" ");
      const { stdout, stderr } = await bed.startCommand(["sh", "-c", text.replace("$boll", line)]).result();
      return { stdout, lines: stderr.trimEnd().split("\n") };
    };
    const piped = await shell('{ $boll; echo "code $?" >&2; } | head -c 5');
    assertEquals([piped.stdout, piped.lines.length, piped.lines.at(-1)], ["xxxxx", 2, "code 141"]);
    const { status, exit_code, ended_by } = JSON.parse(piped.lines[0]!);
    assertEquals([status, exit_code, ended_by], ["completed", 141, "stdout_closed"]);
    const closed = await shell('$boll >&-; echo "code $?" >&2');
    assertEquals(closed.lines.at(-1), "code 0");
    assertEquals(endsOf(bed), [["completed", 0, "guest"], ["completed", 0, "guest"]]);
    assertEquals(Deno.readTextFileSync(`${bed.sessions()[0]}/records/out/result.txt`).length, 1_000_000);
    assertNothingLeft(bed);
  },
);

function interrupt(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGINT");
  } catch { /* it has ended */ }
}

function sessionCount(bed: Bed): number {
  try {
    return bed.sessions().length;
  } catch {
    return 0;
  }
}
