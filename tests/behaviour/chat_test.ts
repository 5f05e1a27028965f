import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Bed, forExecutable, REPOSITORY } from "../harness.ts";
import { assertNothingLeft } from "../process/leftovers.ts";
import { ModelServer } from "../models/model_server.ts";
import { Terminal } from "../terminal.ts";

const ASSISTANT = `${REPOSITORY}/capsules/assistant`;

/** An agent of the bed whose model plays these turns. */
function agent(bed: Bed, turns: readonly Record<string, unknown>[]): string {
  return bed.folder(`agent-${crypto.randomUUID()}`, {
    "capsule.jsonc": JSON.stringify({
      name: "tester",
      version: "1.0.0",
      inference: { dialect: "scripted", uri: "play.json" },
    }),
    "play.json": JSON.stringify({ turns }),
  });
}

function talkTo(bed: Bed, path: string): Terminal {
  const command = bed.command(["chat", "--accept", path]);
  return new Terminal(command, { scratch: bed.root, cwd: bed.root, env: bed.environment() });
}

forExecutable(
  "chat: each line is a message, the next one answers what it asks; answers alone on stdout",
  async (bed) => {
    const { code, stdout, stderr } = await bed.run(["chat", "--accept", ASSISTANT], { stdin: "hello\nAda\n\nmore\n" });
    assertEquals(code, 0, stderr);
    assertEquals(
      stdout,
      "Good day. I know your name now, and how people are greeted here.\nI am a playbook, and say the same to everybody.\n",
    );
    assertEquals(stderr, "? What is your name?\n");
    const silent = await bed.run(["chat", ASSISTANT], { stdin: "" });
    assertEquals([silent.code, silent.stdout], [0, ""]);
    const unanswered = await bed.run(["chat", ASSISTANT], { stdin: "hello\n" });
    assertEquals([unanswered.code, unanswered.lastLine], [3, "boll: its question was not answered"]);
    const alone = await bed.run(["chat", "--accept", agent(bed, [])], { stdin: "hello\n" });
    assertEquals(alone.code, 1);
    assertStringIncludes(alone.stderr, "the turn ended as failed (Play the playbook: ");
    assertStringIncludes(alone.lastLine, "boll: its last turn ended as failed; see `boll trace show ses_");
    // The answer of another turn is none of one that says nothing.
    const nothing = { tool_calls: [{ name: "finish", arguments: { output: "" } }] };
    const path = agent(bed, [{ text: "first" }, nothing, { text: "third" }]);
    assertEquals((await bed.run(["chat", "--accept", path], { stdin: "1\n2\n3\n" })).stdout, "first\nthird\n");
    assertNothingLeft(bed);
  },
);

forExecutable("chat --json: one event a line, the last one says how it ended", async (bed) => {
  const path = agent(bed, [
    { text: "one", usage: { input_tokens: 3, output_tokens: 1 } },
    { text: "two", usage: { input_tokens: 4, output_tokens: 1 } },
  ]);
  const { code, stdout } = await bed.run(["chat", "--accept", "--json", path], { stdin: "a\nb\nc\n" });
  const events = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(events.filter(({ type }) => type === "turn").map(({ status, text }) => [status, text]), [
    ["completed", "one"],
    ["completed", "two"],
    ["failed", ""],
  ]);
  const last = events.at(-1);
  assertEquals([last.type, last.usage], ["end", { input_tokens: 7, output_tokens: 2 }]);
  assertEquals([code, last.exit_code], [1, 1]);
});

forExecutable("chat: the record ends as the conversation was said to, well or badly", async (bed) => {
  const endingOf = async (turns: readonly Record<string, unknown>[], stdin: string) => {
    const path = agent(bed, turns);
    const { stdout } = await bed.run(["chat", "--accept", "--json", path], { stdin });
    const { status, exit_code } = JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
    const { event, ...end } = bed.trace().at(-1)!;
    assertEquals([event, end["status"], end["exit_code"]], ["session_end", status, exit_code]);
    return [status, end["ended_by"]];
  };
  assertEquals(await endingOf([{ text: "one" }], "a\n"), ["completed", "guest"]);
  assertEquals(await endingOf([], "a\n"), ["failed", "guest"]);
});

forExecutable(
  "chat --json: what was streamed is the whole answer, once, also where too much came to follow it",
  async (bed) => {
    // So many pieces that no supervisor follows them all.
    const texts = ["a", "b", "c", "d"].map((name) =>
      Array.from({ length: 125_000 }, (_, i) => `${name}${i}`).join("\n")
    );
    await using server = ModelServer.start({ turns: texts.map((text) => ({ text })), pieceLength: 8_000 });
    const path = agent(bed, [{ text: "never" }]);
    const model = ["--uri", server.url, "--dialect", "openai", "--model", "m"];
    const { code, stdout } = await bed.run(["chat", "--accept", "--json", ...model, path], { stdin: "1\n2\n3\n4\n" });
    assertEquals(code, 0);
    const events = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    let streamed = "";
    const told: string[] = [];
    for (const { type, text, reset } of events) {
      if (type === "text") streamed = reset === true ? text : streamed + text;
      if (type !== "turn") continue;
      told.push(text);
      assert(streamed === text, `${streamed.length} of ${text.length}`);
      streamed = "";
    }
    assert(told.length === 4 && told.every((text, i) => text === texts[i]));
  },
);

forExecutable("chat: it ends where nobody reads it any more, and waits for no answer that nobody sees", async (bed) => {
  const path = agent(bed, [{ text: "first" }, { text: "second" }]);
  const [program, ...args] = bed.command(["chat", "--accept", path]);
  const streams = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
  const chat = new Deno.Command(program!, { args, ...streams, clearEnv: true, env: bed.environment() }).spawn();
  await chat.stdout.cancel();
  const writer = chat.stdin.getWriter();
  // Its input goes on: that it ends is not for want of it.
  await writer.write(new TextEncoder().encode("1\n2\n"));
  const [{ code }, said] = await Promise.all([chat.status, new Response(chat.stderr).text()]);
  writer.abort().catch(() => {});
  assertEquals([code, said], [141, ""]);
  assertNothingLeft(bed);
});

forExecutable("chat: at a terminal a prompt, the answer as it comes, tools, and a question in place", async (bed) => {
  await using terminal = talkTo(bed, ASSISTANT);
  await terminal.waitFor("> ");
  await terminal.type("hello\n");
  await terminal.waitFor("use-skill");
  await terminal.waitFor("? What is your name?");
  await terminal.type("Ada\n");
  await terminal.waitFor("how people are greeted here.");
  await terminal.type("more\n");
  await terminal.waitFor(/I am a playbook[^\n]*\r?\n> /);
  await terminal.type("\x04");
  await terminal.waitFor(/> \r?\n$/);
  assertEquals(await terminal.end(), 0);
});

forExecutable("chat: Ctrl-C ends the turn and not the conversation, twice the conversation", async (bed) => {
  const path = agent(bed, [{ when_contains: "slow", text: "late", delay_ms: 60_000 }, { text: "here" }, {
    when_contains: "again",
    tool_calls: [{ name: "begun", arguments: {} }],
  }, { text: "late", delay_ms: 60_000 }]);
  await using terminal = talkTo(bed, path);
  await terminal.waitFor("> ");
  await terminal.type("slow\n");
  await untilRunning(bed);
  await terminal.type("\x03");
  await terminal.waitFor("the turn ended as cancelled");
  await terminal.type("go on\n");
  await terminal.waitFor("here");
  await terminal.type("again\n");
  // What was typed is gone with a Ctrl-C that comes before it was read.
  await terminal.waitFor("begun");
  await terminal.type("\x03");
  await terminal.waitFor(/stopping this turn[\s\S]*stopping this turn|the conversation[\s\S]*the conversation/);
  await terminal.type("\x03");
  assertEquals(await terminal.end(), 130);
  assertStringIncludes(terminal.output.text, "boll: interrupted; see `boll trace show ses_");
  assertNothingLeft(bed);
});

async function untilRunning(bed: Bed): Promise<void> {
  for (;;) {
    const { stdout } = await bed.run(["ps", "--json"]);
    if (stdout.includes('"state":"running"')) return;
  }
}

forExecutable("chat: a command is no agent, and a hostile model cannot draw on the terminal", async (bed) => {
  const refused = await bed.run(["chat", "--accept", `${REPOSITORY}/capsules/hello`]);
  assertEquals(refused.code, 2);
  assertStringIncludes(refused.stderr, "it is no agent; use boll run");
  await using terminal = talkTo(bed, agent(bed, [{ text: "\u001b[2J\u001b]0;title\u0007\u202eevil" }]));
  await terminal.waitFor("> ");
  await terminal.type("hello\n");
  const shown = await terminal.waitFor("evil");
  await terminal.type("\x04");
  await terminal.end();
  assert(!shown.includes("\u001b") && !shown.includes("\u202e"), JSON.stringify(shown));
});
