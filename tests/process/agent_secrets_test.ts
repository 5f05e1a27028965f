import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Bed, forExecutable, type RunningBoll } from "../harness.ts";
import { ModelServer } from "../models/model_server.ts";
import { argumentsOf, childrenOf } from "../processes.ts";
import { AgentWorkspace, callOf } from "./agent_workspace.ts";
import { assertNothingLeft } from "./leftovers.ts";
import { seenOf, textsBelow } from "./seen_secrets.ts";

/** What nobody may read but the endpoints that it is for. */
const SECRETS = {
  LEAD_KEY: "sk-lead-7f3a91c05e",
  LEAD_HEADER: "hdr-lead-b2884d10",
  OWN_KEY: "sk-own-3c19e6aa47",
};

function assertNoSecret(text: string, where: string): void {
  for (const [name, value] of Object.entries(SECRETS)) {
    assert(!text.includes(value) && !text.includes(btoa(value).slice(0, -3)), `${where} holds the value of ${name}`);
  }
}

/** The headers of all requests in which one of the secrets is, with that secret's name. */
function carriedTo(server: ModelServer): string[] {
  const found = server.requests.flatMap(({ headers, body, path }) => {
    assertNoSecret(JSON.stringify(body) + path, "a request's body");
    return Object.entries(headers).flatMap(([header, text]) =>
      Object.entries(SECRETS).filter(([, value]) => text.includes(value)).map(([name]) => `${header}: ${name}`)
    );
  });
  return [...new Set(found)].sort();
}

interface Servers {
  readonly lead: ModelServer;
  readonly second: ModelServer;
  readonly own: ModelServer;
}

const ORIGIN = (server: ModelServer) => new URL(server.url).origin;

/** A lead with a tool, a child with its lead's model and one with its own; all that they say is kept in the traces. */
async function openAgents(bed: Bed, { lead, second, own }: Servers): Promise<AgentWorkspace> {
  const workspace = new AgentWorkspace(bed);
  const trace = { capture: "content" };
  await workspace.agent("heir", { tools: { probe: undefined }, trace });
  await workspace.agent("other", {
    inference: { dialect: "anthropic", uri: own.url, model: "m", api_key: "${OWN_KEY}" },
    secrets: { OWN_KEY: [ORIGIN(own)] },
    trace,
  });
  await workspace.agent("lead", {
    inference: {
      uri: `${lead.url},${second.url}`,
      model: "m",
      api_key: "${LEAD_KEY}",
      headers: { "x-extra": "${LEAD_HEADER}" },
    },
    secrets: { LEAD_KEY: [ORIGIN(lead), ORIGIN(second)], LEAD_HEADER: [ORIGIN(lead), ORIGIN(second)] },
    tools: { probe: undefined },
    grants: { spawn: ["heir", "other"] },
    trace,
  });
  await workspace.lock();
  return workspace;
}

const TURNS = [
  { when_contains: "the task", ...callOf("probe", { do: "env" }) },
  {
    when_contains: "source=tool:probe",
    tool_calls: [
      { name: "delegate-task", arguments: { capsule: "heir", task: "inherit" } },
      { name: "delegate-task", arguments: { capsule: "other", task: "on its own" } },
    ],
  },
  { when_contains: "inherit", ...callOf("probe", { do: "env", again: 1 }) },
  { when_contains: "[delegate-task] started", text: "I wait" },
  { when_contains: "source=tool:probe", text: "inherited" },
  { when_contains: "ended ok", text: "the end" },
];

forExecutable(
  "agent secrets: keys are in the headers that are for them, and in no process, record, log, file, output or verb",
  async (bed) => {
    await using lead = ModelServer.start({ turns: TURNS, faults: ["none", "500", "cut"] });
    await using second = ModelServer.start({ turns: [] });
    await using own = ModelServer.start({ turns: [{ text: "done" }], faults: ["500", "echo"] });
    const workspace = await openAgents(bed, { lead, second, own });
    const run = await workspace.run("lead", "the task", [], { env: SECRETS });
    assertEquals([run.code, run.stdout], [0, "the end"], run.stderr);
    assertEquals(carriedTo(lead), ["authorization: LEAD_KEY", "x-extra: LEAD_HEADER"]);
    assertEquals(carriedTo(own), ["x-api-key: OWN_KEY"]);
    assertNoSecret(run.stdout + run.stderr, "the output");
    assertNoSecret(textsBelow(bed.root), "the disk");
    assertStringIncludes(textsBelow(bed.root), "repeat a credential");
    const ids = bed.sessions().map((folder) => folder.split("/").at(-1)!);
    assertEquals(ids.length, 3);
    const folder = `${workspace.root}/lead`;
    const verbs = [
      ...[["explain", folder], ["explain", "--json", folder], ["trace", "tree"], ["sessions"], ["check", folder]],
      ...ids.flatMap((id) => [["trace", "show", id], ["trace", "show", "--json", id], ["logs", id]]),
    ];
    for (const verb of verbs) {
      const { stdout, stderr } = await bed.run(verb, { env: SECRETS });
      assertNoSecret(stdout + stderr, `boll ${verb}`);
    }
    assertNothingLeft(bed);
  },
);

forExecutable(
  "agent secrets: while an agent and its children wait for their models no process holds a key, nor does the disk",
  async (bed) => {
    await using lead = ModelServer.start({ turns: TURNS, faults: ["none", "none", "mute", "mute"] });
    await using second = ModelServer.start({ turns: [] });
    await using own = ModelServer.start({ turns: [], faults: ["mute"] });
    const workspace = await openAgents(bed, { lead, second, own });
    const running = workspace.start("lead", "the task", [], { env: SECRETS });
    await untilAsked(running, () => lead.requests.length === 4 && own.requests.length === 1);
    const below = childrenOf(running.child.pid);
    assert(below.length >= 3, `processes below: ${below}`);
    for (const pid of below) assertNoSecret(seenOf(pid), `a process below (${argumentsOf(pid)})`);
    assertNoSecret(argumentsOf(running.child.pid).join(" "), "the command line");
    assertNoSecret(textsBelow(bed.root), "the disk");
    for (const verb of [["ps"], ["ps", "--json"], ["trace", "tree"]]) {
      const { stdout, stderr } = await bed.run(verb);
      assertNoSecret(stdout + stderr, `boll ${verb}`);
    }
    running.child.kill("SIGINT");
    const { code, stdout, stderr } = await running.result();
    assertEquals(code, 130);
    assertNoSecret(stdout + stderr + textsBelow(bed.root), "what is left");
    assertNothingLeft(bed);
  },
);

forExecutable(
  "agent secrets: an endpoint that no list names has none, be it in the manifest, typed, or where a redirect leads",
  async (bed) => {
    await using stranger = ModelServer.start({ turns: [{ text: "hello" }, { text: "hello" }] });
    await using listed = ModelServer.start({
      faults: ["500", "500", "500", "redirect"],
      redirectTo: `${stranger.url}/chat/completions`,
    });
    const workspace = new AgentWorkspace(bed);
    const agent = (uri: string) =>
      workspace.agent("lead", {
        inference: { uri, model: "m", api_key: "${LEAD_KEY}", headers: { "x-extra": "${LEAD_HEADER}" } },
        secrets: { LEAD_KEY: [ORIGIN(listed)], LEAD_HEADER: [ORIGIN(listed)] },
      });
    await agent(`${listed.url},${stranger.url}`);
    const both = await workspace.run("lead", "x", [], { env: SECRETS });
    assertEquals([both.code, both.stdout, listed.requests.length], [2, "", 0], both.stderr);
    await agent(listed.url);
    const typed = await workspace.run("lead", "x", ["--uri", `${listed.url},${stranger.url}`], { env: SECRETS });
    assertEquals([typed.code, typed.stdout], [0, "hello"], typed.stderr);
    assertEquals([carriedTo(listed), carriedTo(stranger)], [[], []]);
    const led = await workspace.run("lead", "x", [], { env: SECRETS });
    assertEquals([led.code, carriedTo(stranger)], [1, []], led.stderr);
    assertEquals(carriedTo(listed), ["authorization: LEAD_KEY", "x-extra: LEAD_HEADER"]);
    const named = await workspace.run("lead", "x", ["--uri", stranger.url, "--api-key", "OWN_KEY"], { env: SECRETS });
    assertEquals([named.code, carriedTo(stranger)], [0, ["authorization: OWN_KEY"]], named.stderr);
    assertNoSecret(both.stderr + typed.stderr + led.stderr + named.stderr + textsBelow(bed.root), "what is left");
  },
);

forExecutable(
  "agent secrets: an agent that is served or talked to tells its key to none of those who ask it, nor to its store",
  async (bed) => {
    await using server = ModelServer.start({
      turns: [{ when_contains: "one", ...callOf("probe", { do: "env" }) }, { text: "first" }, { text: "talked" }],
      faults: ["500", "none", "cut", "none", "echo", "401"],
    });
    const workspace = new AgentWorkspace(bed);
    const agent = await workspace.agent("lead", {
      inference: { uri: server.url, model: "m", api_key: "${LEAD_KEY}" },
      secrets: { LEAD_KEY: [ORIGIN(server)] },
      tools: { probe: undefined },
      trace: { capture: "content" },
    });
    const serving = bed.start(["serve", "--accept", "--json", "--name", "svc", agent], { env: SECRETS });
    const address = await serving.stdout.waitFor("\n");
    for (const [text, code, words] of [["one", 0, "first"], ["two", 1, ""], ["three", 1, ""]] as const) {
      const { code: found, stdout, stderr } = await bed.run(["send", "svc", text]);
      assertEquals([found, stdout.trimEnd()], [code, words], stderr);
      assertNoSecret(stdout + stderr, "what a sender reads");
      assert(!stderr.includes("LEAD_KEY"), stderr);
    }
    for (const pid of childrenOf(serving.child.pid)) assertNoSecret(seenOf(pid), "a process below");
    serving.child.kill("SIGTERM");
    assertNoSecret(`${address}${(await serving.result()).stderr}`, "what it says");
    const talked = await bed.run(["chat", "--accept", agent], { env: SECRETS, stdin: "hello\n" });
    assertEquals([talked.code, talked.stdout.trimEnd()], [0, "talked"], talked.stderr);
    assertEquals(carriedTo(server), ["authorization: LEAD_KEY"]);
    assertNoSecret(talked.stderr + textsBelow(bed.root), "what is left");
    assertNothingLeft(bed);
  },
);

async function untilAsked(running: RunningBoll, isAsked: () => boolean): Promise<void> {
  let hasEnded = false;
  void running.child.status.then(() => hasEnded = true);
  while (!isAsked()) {
    if (hasEnded) throw new Error(`The run has ended: ${running.stderr.text}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
