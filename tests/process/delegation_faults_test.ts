import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { forExecutable, forMode } from "../harness.ts";
import { waitForEnd } from "../processes.ts";
import { DelegatingWorkspace } from "./delegating_workspace.ts";
import { endings, recordOf, untilRunning } from "./delegation_records.ts";

const ASK = `waitFor(delegate({ capsule: args[0], ...JSON.parse(args[1] ?? "{}") }))`;

forExecutable(
  "boll run: whatever becomes of a child, its parent reads it once: fails, floods, overdue",
  async (bed) => {
    const space = new DelegatingWorkspace(bed);
    await space.capsule("asker", { grants: { spawn: ["exits", "traps", "floods", "loops"] } });
    await space.capsule("exits", { guest: "exit3" });
    await space.capsule("traps", { guest: "trap" });
    await space.capsule("floods", { guest: "flood" });
    await space.capsule("loops", { guest: "loop" });
    await space.lock();
    const source = `
    const children = ["exits", "traps", "floods"].map((capsule) => delegate({ capsule }));
    const late = delegate({ capsule: "loops", deadlineMs: 1500 });
    return [...children, late].map(waitFor);
  `;
    const { code, value, stderr } = await space.run("asker", source);
    assertEquals(code, 0, stderr);
    const texts = value as string[];
    for (
      const [index, words] of ["exits@0.1.0 ended error", "traps@0.1.0 ended error", "floods@0.1.0 ended error"]
        .entries()
    ) {
      assertStringIncludes(texts[index]!, words);
    }
    assertStringIncludes(texts[2]!, "[cut at ");
    assertStringIncludes(texts[3]!, "loops@0.1.0 ended terminated");
    assertStringIncludes(texts[3]!, "detail: ended at the delegation deadline");
    const id = /delegation (dlg_\w+)/.exec(texts[2]!)![1]!;
    const kept = Deno.statSync(`${bed.sessions()[0]}/runtime/delegations/${id}.txt`);
    assertEquals(kept.size, 10 * 1024 * 1024);
  },
);

forExecutable(
  "boll run: a child killed by the kernel is crashed, one that is stopped terminated, by the launcher's record",
  async (bed) => {
    const space = new DelegatingWorkspace(bed);
    await space.capsule("asker", { grants: { spawn: ["loops"] } });
    await space.capsule("loops", { guest: "loop" });
    await space.lock();
    for (const [act, status, detail] of [["kill", "crashed", /SIGKILL/], ["stop", "terminated", /stopped/]] as const) {
      const run = bed.start([...space.command("asker", ASK), "loops"]);
      const nodes = await untilRunning(bed, "0.1");
      const child = nodes.find(({ path }) => path === "0.1")!;
      if (act === "kill") Deno.kill(child.pid, "SIGKILL");
      else assertEquals((await bed.run(["stop", "0.1"])).code, 0);
      const { code, stdout, stderr } = await run.result();
      assertEquals(code, 0, stderr);
      assertStringIncludes(JSON.parse(stdout), `loops@0.1.0 ended ${status}`);
      const completion = recordOf(bed, child.session_id, "completion");
      assertEquals([completion["status"], completion["reported_by"]], [status, "launcher"]);
      assertMatch(String(completion["detail"]), detail);
    }
  },
);

forExecutable(
  "boll run: who delegated and ends takes its children along: at its own end, and interrupted",
  async (bed) => {
    const space = new DelegatingWorkspace(bed);
    await space.capsule("asker", { grants: { spawn: ["loops", "middle"] } });
    await space.capsule("middle", { grants: { spawn: ["loops"] }, source: `waitFor(delegate({ capsule: "loops" }))` });
    await space.capsule("loops", { guest: "loop" });
    await space.lock();
    const { code, stderr } = await space.run("asker", `delegate({ capsule: "loops" }).id()`);
    assertEquals(code, 0, stderr);
    assertEquals(await endings(bed), [["asker", "completed"], ["loops", "cancelled"]]);
    const [, child] = bed.sessions().map((folder) => folder.split("/").at(-1)!);
    const completion = recordOf(bed, child!, "completion");
    assertEquals([completion["status"], completion["detail"]], ["terminated", "the parent ended this delegation"]);

    const run = bed.start([...space.command("asker", ASK), "middle"]);
    const nodes = await untilRunning(bed, "0.1.1");
    run.child.kill("SIGINT");
    assertEquals((await run.result()).code, 130);
    assertEquals((await endings(bed)).slice(2), [
      ...[["asker", "cancelled"], ["middle", "cancelled"], ["loops", "cancelled"]],
    ]);
    for (const { pid } of nodes) await waitForEnd(pid);
  },
);

forExecutable(
  "boll run: all of a tree killed at once: nobody is left, and the next verb says that it crashed",
  async (bed) => {
    const space = new DelegatingWorkspace(bed);
    await space.capsule("asker", { grants: { spawn: ["middle", "loops"] } });
    await space.capsule("middle", { grants: { spawn: ["loops"] }, source: `waitFor(delegate({ capsule: "loops" }))` });
    await space.capsule("loops", { guest: "loop" });
    await space.lock();
    const run = bed.start([...space.command("asker", ASK), "middle"]);
    const nodes = await untilRunning(bed, "0.1.1");
    run.child.kill("SIGKILL");
    Deno.kill(nodes.find(({ path }) => path === "0.1")!.pid, "SIGKILL");
    await run.result();
    for (const { pid } of nodes) await waitForEnd(pid);
    assertEquals((await endings(bed)).map(([name, status]) => [name, status === "cancelled" ? "crashed" : status]), [
      ...[["asker", "crashed"], ["middle", "crashed"], ["loops", "crashed"]],
    ]);
  },
);

forMode(
  "binary",
  "boll run: more children than a session may have are refused by the gate, and the run ends them all",
  async (bed) => {
    const space = new DelegatingWorkspace(bed);
    await space.capsule("asker", { grants: { spawn: ["blocks"] } });
    await space.capsule("blocks", { guest: "block" });
    await space.lock();
    const source = `
    const answers = Array.from({ length: 9 }, () => attempt(() => delegate({ capsule: "blocks" })));
    return answers.map(({ ok, err }) => ok ? "started" : err.tag + ": " + err.val);
  `;
    const { code, value, stderr } = await space.run("asker", source);
    assertEquals(code, 0, stderr);
    const answers = value as string[];
    assertEquals(answers.slice(0, 8), Array(8).fill("started"));
    const refusal = "refused: Start a session: the session has 8 living children, at most 8 may be (breadth)";
    assertEquals(answers[8], refusal);
    assertEquals((await endings(bed)).map(([, status]) => status), ["completed", ...Array(8).fill("cancelled")]);
  },
);

forExecutable(
  "boll run: what is started too fast is refused by the rate, and the guest reads when it may be",
  async (bed) => {
    const space = new DelegatingWorkspace(bed);
    await space.capsule("asker", { grants: { spawn: ["changed"] } });
    const folder = await space.capsule("changed", { guest: "cat" });
    await space.lock();
    const source = `
    print("asked"); readStdin();
    return Array.from({ length: 40 }, () => attempt(() => delegate({ capsule: "changed" })).err);
  `;
    const run = bed.start(space.command("asker", source), { stdin: { open: true } });
    await run.stdout.waitFor("asked");
    // What is found to have changed has been admitted, and costs no process.
    Deno.writeTextFileSync(`${folder}/more.txt`, "");
    await run.closeStdin();
    const { code, stdout, stderr } = await run.result();
    assertEquals(code, 0, stderr);
    const answers: { tag: string; val: string }[] = JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
    assertEquals(new Set(answers.map(({ tag }) => tag)), new Set(["refused"]));
    for (const { val } of answers.slice(0, 8)) assertStringIncludes(val, "digest changed");
    const refused = answers.filter(({ val }) => !val.includes("digest changed"));
    assert(refused.length > 0, "forty starts in less than sixteen seconds were none too fast");
    for (const { val } of refused) {
      assertMatch(val, /^Start a session: sessions were started too fast, the next may be in \d+ ms \(rate\)$/);
    }
    assertEquals(bed.sessions().length, 1);
  },
);
