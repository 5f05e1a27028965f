import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Bed, forExecutable, REPOSITORY, type TraceEvent } from "../harness.ts";
import { type Fault, ModelServer, type ServedDialect } from "../models/model_server.ts";
import { AgentWorkspace, callOf, tracesOf } from "./agent_workspace.ts";
import { assertNothingLeft } from "./leftovers.ts";

const DIALECTS: readonly ServedDialect[] = ["openai", "anthropic"];
const usage = { input_tokens: 10, output_tokens: 2 };

/** Where a model is, for a manifest. */
function modelAt(server: ModelServer, dialect: ServedDialect): Record<string, unknown> {
  return { dialect, uri: server.url, model: "m", system_prompt: "You are a test." };
}

function causeOf(events: readonly TraceEvent[]): unknown[] {
  const { event, status, exit_code, ended_by, detail } = events.at(-1)!;
  assertEquals(event, "session_end");
  return [status, exit_code, ended_by, detail];
}

/** What a model was shown as the user or a tool, in one request after the other. */
function heardBy(server: ModelServer): string {
  return server.requests.map(({ body }) => JSON.stringify(body.messages)).join("\n");
}

for (const dialect of DIALECTS) {
  forExecutable(
    `agent faults: what passes is tried again, what is broken is told, and the answer is whole, over ${dialect}`,
    async (bed) => {
      const echo = (text: string) => ({ ...callOf("probe", { do: "echo", text }), usage });
      await using server = ModelServer.start({
        faults: ["500", "none", "cut", "none", "half_character", "wrong_json", "no_usage", "429", "none"],
        turns: [
          { when_contains: "the task", ...echo("one") },
          { when_contains: "one", ...echo("grüße 漢") },
          { when_contains: "grüße 漢", ...echo("größe 字") },
          { when_contains: "größe 字", ...echo("never made") },
          {
            when_contains: "the arguments are not JSON",
            ...callOf("delegate-task", { capsule: "worker", task: "sum" }),
          },
          { when_contains: "[delegate-task] started", text: "I wait", usage },
          { when_contains: "the sum", text: "größe 漢\nthe end", usage },
        ],
      });
      await using below = ModelServer.start({ turns: [{ text: "the sum" }], faults: ["error_event", "bad_event"] });
      const workspace = new AgentWorkspace(bed);
      await workspace.agent("worker", { inference: modelAt(below, dialect) });
      await workspace.agent("lead", {
        inference: modelAt(server, dialect),
        tools: { probe: undefined },
        grants: { spawn: ["worker"] },
      });
      await workspace.lock();
      const { code, stdout, stderr, report } = await workspace.run("lead", "the task");
      assertEquals([code, stdout, report["status"]], [0, "größe 漢\nthe end", "completed"], stderr);
      assertEquals([server.requests.length, below.requests.length], [10, 3]);
      assertEquals(report["usage"], { input_tokens: 60, output_tokens: 12 });
      const [lead, worker] = tracesOf(bed);
      const rounds = lead!.filter(({ event }) => event === "inference");
      assertEquals(
        rounds.map(({ usage_missing }) => usage_missing === true).join(),
        "false,false,false,false,true,false,false",
      );
      const calls = lead!.filter(({ event }) => event === "tool_call").map(({ tool, is_error }) =>
        `${tool} ${is_error}`
      );
      assertEquals(calls, ["probe false", "probe false", "probe false", "probe true", "delegate-task false"]);
      assertEquals([causeOf(lead!), causeOf(worker!)], [
        ["completed", 0, "guest", undefined],
        ["completed", 0, "guest", undefined],
      ]);
      assert(!heardBy(server).includes(String.raw`source=tool:probe>\nnever made`));
      assertNothingLeft(bed);
    },
  );
}

forExecutable(
  "agent faults: the sample reviewer and its summarizers answer from one endpoint that fails in between, over both wires",
  async (bed) => {
    const capsules = `${REPOSITORY}/capsules`;
    assertEquals((await bed.run(["lock", capsules])).code, 0);
    const { turns } = JSON.parse(Deno.readTextFileSync(`${capsules}/reviewer/playbook.json`));
    for (const dialect of DIALECTS) {
      await using server = ModelServer.start({
        turns,
        faults: ["500", "none", "429", "half_character", "none", "cut"],
      });
      const { code, stdout, stderr, json } = await bed.run([
        ...["run", "--accept", "--json", "--quiet", "--mount", `${capsules}/wasi:/src:ro`],
        ...["--uri", server.url, "--model", "m", "--dialect", dialect, `${capsules}/reviewer`, "Review the code"],
      ]);
      assertEquals([code, json?.["status"], stdout], [0, "completed", turns.at(-1).text], stderr);
      const last = server.requests.at(-1)!.body.messages.at(-1).content;
      const told = typeof last === "string" ? last : last.at(-1).text;
      assertEquals(told.match(/<\/?untrusted-content/g)?.length, 4);
      assertNothingLeft(bed);
    }
  },
);

/** Faults of the sample's model → its exit status, status and the name of why. */
const REVIEWED: readonly [readonly Fault[], number, string, string | undefined][] = [
  [["wrong_json", "none", "no_usage"], 0, "completed", undefined],
  [["401"], 1, "failed", "model.unauthorized"],
  [["redirect"], 1, "failed", "model.rejected"],
  [["none", "500", "500", "500"], 4, "failed", "model.unreachable"],
  [["none", "none", "silence"], 124, "deadline", undefined],
];

forExecutable(
  "agent faults: the sample reviewer ends as its model's fault says, over both wires, with nothing left",
  async (bed) => {
    const capsules = `${REPOSITORY}/capsules`;
    assertEquals((await bed.run(["lock", capsules])).code, 0);
    const { turns } = JSON.parse(Deno.readTextFileSync(`${capsules}/reviewer/playbook.json`));
    for (const dialect of DIALECTS) {
      for (const [faults, exitCode, status, name] of REVIEWED) {
        const played = faults[0] === "wrong_json" ? [turns[0], ...turns] : turns;
        await using server = ModelServer.start({ turns: played, faults, redirectTo: "http://127.0.0.1:9/" });
        const { code, stdout, stderr, json } = await bed.run([
          ...["run", "--accept", "--json", "--quiet", "--mount", `${capsules}/wasi:/src:ro`],
          ...(status === "deadline" ? ["--deadline", "4s"] : []),
          ...["--uri", server.url, "--model", "m", "--dialect", dialect, `${capsules}/reviewer`, "Review the code"],
        ]);
        assertEquals([code, json?.["status"], json?.["code"]], [exitCode, status, name], `${faults} ${stderr}`);
        assertEquals(stdout.startsWith("# Review of /src"), status === "completed", `${faults} ${stdout}`);
        assertNothingLeft(bed);
      }
    }
  },
);

/** Faults → how the run ends, and a word of why. */
const FATAL: readonly [readonly Fault[], number, string, string][] = [
  [["401"], 1, "model.unauthorized", "check the variable THE_KEY"],
  [["403"], 1, "model.unauthorized", "check the variable THE_KEY"],
  [["400"], 1, "model.rejected", "refused with 400"],
  [["echo"], 1, "model.rejected", "they repeat a credential"],
  [["redirect"], 1, "model.rejected", "which is not followed with a credential"],
  [["500", "500", "500"], 4, "model.unreachable", "status 500"],
  [["429_long"], 4, "model.unreachable", "status 429"],
  [["cut", "cut", "cut"], 4, "model.unreachable", "http://127.0.0.1"],
  [["empty", "empty", "empty"], 1, "model.bad_answer", "check dialect and uri"],
  [["huge"], 1, "model.bad_answer", "more than 16 MiB"],
  [["endless"], 1, "model.bad_answer", "more than 4 MiB of text"],
];

for (const dialect of DIALECTS) {
  forExecutable(
    `agent faults: what does not pass ends the run by its code, with nothing on stdout and all in the record, over ${dialect}`,
    async (bed) => {
      await using elsewhere = ModelServer.start({ turns: [{ text: "no" }] });
      for (const [faults, exitCode, code, words] of FATAL) {
        await using server = ModelServer.start({
          turns: [{ text: "x" }],
          faults,
          redirectTo: `${elsewhere.url}/messages`,
        });
        const workspace = new AgentWorkspace(bed);
        await workspace.agent("lead", {
          inference: { ...modelAt(server, dialect), api_key: "${THE_KEY}" },
          secrets: { THE_KEY: [new URL(server.url).origin] },
        });
        const run = await workspace.run("lead", "the task", [], { env: { THE_KEY: "sk-of-this-test" } });
        const about = `${faults}: ${run.stderr}`;
        assertEquals([run.code, run.stdout, run.report["status"]], [exitCode, "", "failed"], about);
        assertEquals([run.report["code"], server.requests.length], [code, faults.length], about);
        assertStringIncludes(String(run.report["detail"]), words);
        assertEquals(causeOf(bed.trace()), ["failed", exitCode, "guest", run.report["detail"]]);
        assertNothingLeft(bed);
      }
      assertEquals(elsewhere.requests, []);
    },
  );
}

forExecutable(
  "agent faults: a model that falls silent ends with the deadline of the run, with what it had said",
  async (bed) => {
    const workspace = new AgentWorkspace(bed);
    for (const [fault, dialect, text] of [["silence", "openai", "so far"], ["mute", "anthropic", ""]] as const) {
      await using server = ModelServer.start({ turns: [{ text: "so far" }], faults: [fault] });
      await workspace.agent("lead", { inference: modelAt(server, dialect) });
      const { code, stdout, report } = await workspace.run("lead", "the task", ["--deadline", "5s"]);
      assertEquals([code, stdout, report["status"]], [124, text, "deadline"]);
      assertEquals(report["partial"], text === "" ? undefined : true);
      assertEquals(causeOf(bed.trace()), ["deadline", 124, "deadline", "the deadline passed"]);
      assertNothingLeft(bed);
    }
  },
);

forExecutable(
  "agent faults: a child whose model fails is an outcome for its parent; a parent whose model fails ends its child",
  async (bed) => {
    await using below = ModelServer.start({ turns: [], faults: ["401", "mute"] });
    await using above = ModelServer.start({
      turns: [
        { when_contains: "the task", ...callOf("delegate-task", { capsule: "worker", task: "sum" }) },
        { when_contains: "[delegate-task] started", text: "I wait" },
        { when_contains: "ended error", text: "without it" },
      ],
    });
    const workspace = new AgentWorkspace(bed);
    await workspace.agent("worker", { inference: modelAt(below, "anthropic") });
    await workspace.agent("lead", { inference: modelAt(above, "openai"), grants: { spawn: ["worker"] } });
    await workspace.lock();
    const { code, stdout } = await workspace.run("lead", "the task");
    assertEquals([code, stdout], [0, "without it"]);
    assertEquals(causeOf(tracesOf(bed)[1]!).slice(0, 2), ["failed", 1]);
    assertNothingLeft(bed);

    await using failing = ModelServer.start({
      turns: [{ when_contains: "the task", ...callOf("delegate-task", { capsule: "worker", task: "sum" }) }],
      faults: ["none", "400"],
    });
    await workspace.agent("lead", { inference: modelAt(failing, "openai"), grants: { spawn: ["worker"] } });
    const failed = await workspace.run("lead", "the task");
    assertEquals([failed.code, failed.stdout, failed.report["code"]], [1, "", "model.rejected"]);
    assertEquals(tracesOf(bed).map((events) => events.at(-1)!.event), Array(4).fill("session_end"));
    assertCompletion(bed, ["error", "terminated"]);
    assertNothingLeft(bed);
  },
);

/** Every delegated session of the bed has its completion, with these statuses in the order of their sessions. */
function assertCompletion(bed: Bed, statuses: readonly string[]): void {
  const found = bed.sessions().flatMap((folder) => {
    try {
      return [JSON.parse(Deno.readTextFileSync(`${folder}/records/completion.json`)).status];
    } catch {
      return [];
    }
  });
  assertEquals(found, [...statuses]);
}
