import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Bed, forEachMode } from "../harness.ts";
import { warmGuest } from "../warm_cache.ts";

/** An agent with these tools, each the probe. */
async function agentWith(
  bed: Bed,
  tools: Readonly<Record<string, Record<string, unknown> | undefined>>,
  grants: Record<string, unknown> = {},
): Promise<string> {
  const manifest = {
    name: "handy",
    version: "0.1.0",
    inference: { dialect: "scripted", uri: "playbook.json" },
    tools: Object.entries(tools).map(([name, own]) => ({ name, component: "guest.wasm", ...(own && { grants: own }) })),
    grants,
  };
  const folder = bed.folder("handy", {
    "capsule.jsonc": JSON.stringify(manifest),
    "playbook.json": '{"turns":[]}',
  });
  Deno.copyFileSync(await warmGuest(bed, "tool_probe"), `${folder}/guest.wasm`);
  return folder;
}

const does = (what: string, more: Record<string, unknown> = {}) => JSON.stringify({ do: what, ...more });

forEachMode("boll tool: calls one tool, whose answer is on stdout exactly, and keeps a record", async (bed) => {
  const agent = await agentWith(bed, { probe: undefined, mutating: {} });
  const run = (...words: string[]) => bed.run(["tool", agent, ...words, "--accept"]);
  const echo = await run("probe", does("echo", { text: "grüße\u001b[2J 漢" }));
  assertEquals([echo.code, echo.stdout, echo.stderr], [0, "grüße\u001b[2J 漢", ""]);
  const events = bed.trace();
  assertEquals(events.map(({ event }) => event), ["session_start", "walls", "tool_call", "session_end"]);
  assertEquals([events[2]?.["tool"], events[2]?.["is_error"]], ["probe", false]);
  const piped = await bed.run(["tool", agent, "probe", "-"], { stdin: does("echo", { text: "from stdin" }) });
  assertEquals([piped.code, piped.stdout], [0, "from stdin"]);
  const json = await run("mutating", does("echo", { text: "x" }), "--json");
  const ended = JSON.parse(json.stderr.trim());
  assertEquals([json.code, json.stdout, ended.status, ended.exit_code], [0, "x", "completed", 0]);
});

forEachMode("boll tool: without a name its tools are listed, for people and as JSON", async (bed) => {
  const agent = await agentWith(bed, { probe: undefined, mutating: {} });
  const listed = await bed.run(["tool", agent, "--accept"]);
  assertEquals([listed.code, listed.stderr], [0, ""]);
  assertEquals(
    listed.stdout,
    'probe\n  Does probe.\n  {"type":"object"}\nmutating (changes something)\n  Does mutating.\n  {"type":"object"}\n',
  );
  const json = await bed.run(["tool", agent, "--json"]);
  assertEquals(JSON.parse(json.stdout), [
    { name: "probe", description: "Does probe.", mutates: false, input_schema: { type: "object" } },
    { name: "mutating", description: "Does mutating.", mutates: true, input_schema: { type: "object" } },
  ]);
  const bare = await agentWith(bed, {});
  const none = await bed.run(["tool", bare, "--accept"]);
  assertEquals([none.code, none.stdout, none.stderr], [0, "", "boll: handy has no tools\n"]);
});

forEachMode("boll tool: every other ending has its status and its word", async (bed) => {
  const limits = { limits: { deadline_ms: 400 } };
  const agent = await agentWith(bed, { probe: undefined, hurried: limits }, { limits: { output_bytes: 10_000 } });
  const run = (...words: string[]) => bed.run(["tool", agent, ...words, "--accept"]);
  const cases: readonly (readonly [tool: string, input: string, code: number, word: RegExp])[] = [
    [
      "probe",
      does("fail", { text: "try\u001b[2J again" }),
      1,
      /^boll: probe answers with an error: try\\u\{1b\}\[2J again\n$/,
    ],
    ["probe", does("exit", { code: 7 }), 1, /exit: the guest exited with code 7/],
    ["probe", does("flood", { bytes: 20_000 }), 8, /ended at its output limit/],
    ["hurried", does("loop", { text: "x" }), 124, /ended at its deadline/],
    ["hurried", does("sleep", { ms: 60_000 }), 124, /ended at its deadline/],
    ["nobody", "{}", 2, /handy has only probe, hurried/],
    ["probe", "{", 2, /Read JSON/],
  ];
  for (const [tool, input, code, word] of cases) {
    const result = await run(tool, input);
    assertEquals([result.code, result.stdout], [code, ""], `${tool} ${input}: ${result.stderr}`);
    assertMatch(result.stderr, word);
  }
  const failed = JSON.parse((await run("probe", does("fail", { text: "no" }), "--json")).stderr.trim());
  assertEquals([failed.status, failed.exit_code, failed.ended_by, failed.detail], ["failed", 1, "guest", "no"]);
  const wrong = await bed.run(["tool", agent, "probe", "-", "--accept"], { stdin: "not json" });
  assertEquals([wrong.code, wrong.stdout], [2, ""]);
});

forEachMode(
  "boll tool: a foreign agent asks for consent, a tool has its own grants, and only an agent has tools",
  async (bed) => {
    const data = bed.folder("data", { "a.txt": "content" });
    const block = { fs: { mounts: [{ guest: "/data" }] }, env: ["HOME"] };
    const agent = await agentWith(bed, { probe: block, bare: {} }, {
      fs: { mounts: [{ guest: "/data", mode: "ro" }] },
    });
    const mount = ["--mount", `${data}:/data:ro`];
    const unasked = await bed.run(["tool", agent, "probe", ...mount]);
    assertEquals([unasked.code, unasked.stdout], [5, ""]);
    assertMatch(unasked.stderr, /not accepted yet/);
    const read = does("read", { path: "/data/a.txt" });
    const allowed = await bed.run(["tool", agent, "probe", read, ...mount, "--accept"]);
    assertEquals([allowed.code, allowed.stdout], [0, "content"]);
    assertMatch(allowed.stderr, /^boll: warning: Dropped the variable HOME of the tool probe/);
    const refused = await bed.run(["tool", agent, "bare", read, ...mount]);
    assertEquals([refused.code, refused.stdout], [1, ""]);
    assertMatch(refused.stderr, /no-entry/);
    const unbound = await bed.run(["tool", agent, "probe", read]);
    assertEquals(unbound.code, 5);
    assertMatch(unbound.stderr, /--mount/);
    const command = await bed.run(["tool", `${agent}/guest.wasm`]);
    assertEquals(command.code, 2);
    assertMatch(command.stderr, /no agent/);
    const run = await bed.run(["run", `${agent}/guest.wasm`]);
    assertEquals(run.code, 2);
    assertMatch(run.stderr, /exports no wasi:cli\/run; it is a tool: .*boll tool/);
    const explained = await bed.run(["explain", `${agent}/guest.wasm`, "--json"]);
    assertEquals(JSON.parse(explained.stdout).missing, []);
  },
);

forEachMode("boll tool: what a tool says while it works is on stderr, what it writes in the logs", async (bed) => {
  const agent = await agentWith(bed, { probe: undefined });
  const run = (...words: string[]) => bed.run(["tool", agent, "probe", ...words, "--accept"]);
  const logged = await run(does("log", { level: "warn", text: "care\u001bful" }));
  assertEquals([logged.code, logged.stderr], [0, "probe: warn: care\\u{1b}ful\n"]);
  assertEquals((await run(does("emit", { text: "half" }))).stderr, "probe: half\n");
  assertEquals((await run(does("log", { level: "info", text: "x" }), "--quiet")).stderr, "");
  await run(does("say", { text: "into the log" }));
  const logs = await bed.run(["logs", "last"]);
  assertMatch(logs.stdout, /"tool":"probe","stream":"stdout","text":"into the log"/);
  const asked = await run(does("ask", { text: "which?" }));
  assertEquals(asked.code, 1);
  assert(/nobody can be asked/.test(asked.stderr), asked.stderr);
});
