import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Bed, forExecutable, REPOSITORY } from "../harness.ts";
import { Terminal } from "../terminal.ts";

interface Turn {
  readonly when_contains?: string;
  readonly text?: string;
  readonly tool_calls?: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
  readonly delay_ms?: number;
}

/** An agent of the bed whose model plays these turns. */
function agent(bed: Bed, turns: readonly Turn[], manifest: Record<string, unknown> = {}): string {
  const inference = { dialect: "scripted", uri: "play.json", ...manifest["inference"] as object ?? {} };
  return bed.folder(`agent-${crypto.randomUUID()}`, {
    "capsule.jsonc": JSON.stringify({ name: "tester", version: "1.0.0", ...manifest, inference }),
    "play.json": JSON.stringify({ turns }),
  });
}

const USAGE = { input_tokens: 7, output_tokens: 2 };

forExecutable(
  "run AGENT: a task as an argument, from stdin and from a file; the answer alone on stdout",
  async (bed) => {
    const path = agent(bed, [{ when_contains: "count", text: "one two three\n", usage: USAGE }]);
    const args = ["run", "--accept", path];
    const typed = await bed.run([...args, "count to three"]);
    assertEquals([typed.code, typed.stdout, typed.stderr], [0, "one two three\n", ""]);
    const piped = await bed.run([...args, "-"], { stdin: "count\nto three" });
    assertEquals([piped.code, piped.stdout], [0, "one two three\n"]);
    const file = `${bed.folder("tasks", { "task.txt": "count" })}/task.txt`;
    const read = await bed.run(["run", "--task-file", file, "--json", path]);
    const report = JSON.parse(read.lastLine);
    assertEquals([read.code, read.stdout, report.status], [0, "one two three\n", "completed"]);
    assertEquals([report.usage, report.ended_by, report.exit_code], [USAGE, "guest", 0]);
    assert(Deno.readTextFileSync(report.trace).includes('"event":"session_end"'));
  },
);

forExecutable(
  "run AGENT: no task, two tasks, an empty one, one that is too long or no text are refused by name",
  async (bed) => {
    const path = agent(bed, [{ text: "x" }]);
    const file = `${bed.folder("tasks", { "long.txt": "x".repeat(1024 * 1024 + 1) })}/long.txt`;
    const cases: [string[], string][] = [
      [[path], `Read the task: found none; boll run ${path} "what to do"`],
      [[path, "a", "b"], "write it as one, in quotes"],
      [[path, "a", "--json"], "flags like --json come before it"],
      [[path, "  \n"], "nothing but spaces"],
      [["--task-file", file, path], "more than the allowed 1048576 bytes"],
      [["--task-file", file, path, "a"], "give one of them"],
      [["--task-file", `${file}.none`, path], "found no such file"],
    ];
    for (const [args, words] of cases) {
      const { code, stdout, stderr } = await bed.run(["run", "--accept", ...args]);
      assertEquals([code, stdout], [2, ""], stderr);
      assertStringIncludes(stderr, words);
    }
    // What was typed behind the task is named, and not what is missing without it.
    const reviewer = await bed.run(["run", `${REPOSITORY}/capsules/reviewer`, "Review", "--mount", "./a:/src:ro"]);
    assertEquals(reviewer.code, 2);
    assertStringIncludes(reviewer.stderr, "flags like --mount come before it");
    const long = await bed.run(["run", "--accept", path, "-"], { stdin: "x".repeat(1024 * 1024 + 1) });
    assertEquals(long.code, 2);
    assertStringIncludes(long.stderr, "Read stdin: found more than the allowed 1048576 bytes");
  },
);

forExecutable(
  "run AGENT: each ending has its status: rounds, a loop, a deadline, a model that nobody reaches",
  async (bed) => {
    const call = { tool_calls: [{ name: "use-skill", arguments: {} }] };
    const rounds = agent(bed, [call, call, call], { inference: { max_turns: 2 } });
    assertEquals((await bed.run(["run", "--accept", rounds, "x"])).code, 7);
    const loop = agent(bed, [call, call, call, call, call, call]);
    assertEquals((await bed.run(["run", "--accept", loop, "x"])).code, 3);
    const slow = agent(bed, [{ text: "late", delay_ms: 60_000 }]);
    const long = await bed.run(["run", "--accept", "--deadline", "2h", rounds, "x"]);
    assertStringIncludes(long.stderr, "A session has 3600000 ms at most, not the deadline_ms of 7200000");
    const late = await bed.run(["run", "--accept", "--deadline", "1s", slow, "x"]);
    assertEquals(late.stderr.includes("ms at most"), false);
    assertEquals([late.code, late.lastLine.includes("deadline")], [124, true], late.stderr);
    const away = await bed.run(["run", "--accept", "--uri", "http://127.0.0.1:9", "--model", "m", slow, "x"]);
    assertEquals([away.code, away.stdout], [4, ""], away.stderr);
    assertStringIncludes(away.lastLine, "http://127.0.0.1:9");
  },
);

forExecutable(
  "run AGENT: a secret that is not set is named with where it would go; its value is in no record",
  async (bed) => {
    const secrets = { THE_KEY: ["http://127.0.0.1:9"] };
    const inference = { dialect: "openai", uri: "http://127.0.0.1:9/v1", model: "m", api_key: "${THE_KEY}" };
    const path = agent(bed, [], { inference, secrets });
    const missing = await bed.run(["run", "--accept", path, "x"]);
    assertEquals(missing.code, 2);
    assertStringIncludes(missing.stderr, "Read the secret THE_KEY: this variable is not set");
    const value = "a-value-that-nobody-else-has";
    const away = await bed.run(["run", "--json", path, "x"], { env: { THE_KEY: value } });
    assertEquals(away.code, 4);
    assert(!away.stderr.includes(value) && !away.stdout.includes(value));
    const found = new Deno.Command("grep", { args: ["-r", "-l", value, bed.root] }).outputSync();
    assertEquals(new TextDecoder().decode(found.stdout), "");
  },
);

forExecutable(
  "run AGENT: a foreign agent shows its model and secrets and needs a word; a changed origin asks again",
  async (bed) => {
    const manifest = (host: string) => ({
      inference: { dialect: "openai", uri: `https://${host}/v1`, model: "m", api_key: "${THE_KEY}" },
      secrets: { THE_KEY: [`https://${host}`] },
    });
    const path = agent(bed, [], manifest("a.invalid"));
    const asked = await bed.run(["run", path, "x"]);
    assertEquals(asked.code, 5);
    assertStringIncludes(asked.stderr, "a foreign capsule that was not accepted yet");
    assertEquals((await bed.run(["run", "--accept", "--dry-run", path])).code, 0);
    assertEquals((await bed.run(["run", "--accept", path, "x"])).code, 2);
    assertEquals((await bed.run(["run", path, "x"])).code, 2);
    Deno.writeTextFileSync(
      `${path}/capsule.jsonc`,
      JSON.stringify({ name: "tester", version: "1.0.0", ...manifest("b.invalid") }),
    );
    assertEquals((await bed.run(["run", path, "x"])).code, 5);
  },
);

forExecutable("run AGENT: Ctrl-C ends it and leaves nothing behind", async (bed) => {
  const path = agent(bed, [{ text: "late", delay_ms: 60_000 }]);
  assertEquals((await bed.run(["run", "--accept", "--dry-run", path])).code, 0);
  const running = bed.start(["run", "--accept", "--json", path, "x"]);
  for (;;) {
    const { stdout } = await bed.run(["ps", "--json"]);
    if (stdout.includes('"state":"running"')) break;
  }
  running.child.kill("SIGINT");
  const { code, lastLine } = await running.result();
  assertEquals([code, JSON.parse(lastLine).status], [130, "cancelled"]);
  assertEquals((await bed.run(["ps", "--json"])).stdout.includes("ses_"), false);
});

forExecutable("run COMMAND: flags about a model and a task are an agent's alone", async (bed) => {
  const path = await bed.folder("none", {});
  Deno.writeFileSync(`${path}/a.wasm`, new Uint8Array([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]));
  for (const flags of [["--model", "m"], ["--task-file", "x"], ["--api-key", "K"]]) {
    const { code, stderr } = await bed.run(["run", ...flags, `${path}/a.wasm`]);
    assertEquals(code, 2);
    assertStringIncludes(stderr, "is no agent");
  }
});

forExecutable("run AGENT: at a terminal what it asks for is shown before, and tools while they run", async (bed) => {
  const call = { tool_calls: [{ name: "use-skill", arguments: { name: "style" } }] };
  const path = agent(bed, [call, { text: "done" }], {
    inference: { max_turns: 3 },
    skills: [{ name: "style", description: "How we write.", file: "play.json" }],
  });
  const open = (...words: string[]) =>
    new Terminal(bed.command(["run", path, ...words]), { scratch: bed.root, cwd: bed.root, env: bed.environment() });
  {
    await using asked = open("a task");
    const shown = await asked.waitFor("[y/N]");
    for (const part of ["a playbook in place of a model", "at most 3 rounds", "the skills style"]) {
      assertStringIncludes(shown, part);
    }
    await asked.type("n\n");
    assertEquals(await asked.end(), 5);
  }
  await using agreed = open("a task");
  await agreed.waitFor("[y/N]");
  await agreed.type("y\n");
  assertEquals(await agreed.end(), 0);
  for (const part of ["→ use-skill", "✓ use-skill", "done"]) assertStringIncludes(agreed.output.text, part);
});
