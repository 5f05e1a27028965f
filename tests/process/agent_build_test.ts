/** An agent whose tools are still built is interrupted: there is no session yet, and nothing of it is left. */
import { assertEquals } from "@std/assert";
import { type Bed, fixture, forExecutable } from "../harness.ts";
import { Terminal } from "../terminal.ts";
import { environmentOf } from "../processes.ts";
import { assertNothingLeft, cellsOf, processesOf } from "./leftovers.ts";

async function untried(bed: Bed): Promise<string> {
  const folder = bed.folder(`agent-${crypto.randomUUID()}`, {
    "capsule.jsonc": JSON.stringify({
      ...{ name: "untried", version: "1.0.0" },
      inference: { dialect: "scripted", uri: "play.json" },
      tools: [{ name: "probe", component: "probe.wasm" }],
    }),
    "play.json": JSON.stringify({ turns: [{ text: "done" }] }),
  });
  Deno.copyFileSync(await fixture("tool_probe"), `${folder}/probe.wasm`);
  return folder;
}

function assertNothing(bed: Bed, verb: string): void {
  assertNothingLeft(bed);
  const names = (folder: string) => {
    try {
      return [...Deno.readDirSync(`${bed.home}/${folder}`)].map(({ name }) => name);
    } catch {
      return [];
    }
  };
  assertEquals([names("sessions"), names("cache").filter((name) => name.startsWith("."))], [[], []], verb);
}

for (const verb of ["run", "chat", "serve"]) {
  forExecutable(`${verb} AGENT: Ctrl-C while its tools are built is 130, and leaves nothing at all`, async (bed) => {
    const capsule = await untried(bed);
    const command = [verb, "--accept", capsule, ...(verb === "run" ? ["the task"] : [])];
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const running = bed.start(command);
      while (cellsOf(bed, running.child.pid).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      running.child.kill(signal);
      const { code, stdout, stderr } = await running.result();
      assertEquals([code, stdout, stderr], [130, "", "boll: interrupted\n"]);
      assertNothing(bed, verb);
    }
    await using terminal = new Terminal(bed.command(command), {
      scratch: bed.root,
      cwd: bed.root,
      env: bed.environment(),
    });
    const isCell = (pid: number) => {
      try {
        return environmentOf(pid)["BOLL_CHILD"] === "cell";
      } catch {
        return false; // it is gone already
      }
    };
    while (!processesOf(bed).some(isCell)) await new Promise((resolve) => setTimeout(resolve, 5));
    await terminal.type("\x03");
    assertEquals(await terminal.end(), 130);
    assertNothing(bed, verb);
  });
}
