/** Agents that delegate to agents: whose model a child has, and what it may cost. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Bed, forExecutable } from "../harness.ts";
import { ModelServer } from "../models/model_server.ts";
import { assertNothingLeft } from "./leftovers.ts";

type Json = Record<string, unknown>;

const DELEGATE = { tool_calls: [{ name: "delegate-task", arguments: { capsule: "child", task: "the child's task" } }] };
const WAIT = { when_contains: "started dlg_", text: "waiting" };

/** A workspace with two agents, locked; gives the folder of the one that delegates. */
async function workspace(bed: Bed, parent: Json, child: Json): Promise<string> {
  const manifest = (name: string, rest: Json) => JSON.stringify({ name, version: "1.0.0", ...rest });
  const root = bed.folder(`workspace-${crypto.randomUUID()}`, {
    "boll.jsonc": "{}",
    "capsules/parent/capsule.jsonc": manifest("parent", { grants: { spawn: ["child"] }, ...parent }),
    "capsules/parent/play.json": JSON.stringify({ turns: [DELEGATE, WAIT, { text: "done" }] }),
    "capsules/child/capsule.jsonc": manifest("child", child),
    "capsules/child/play.json": JSON.stringify({ turns: [{ text: "from the playbook" }] }),
  });
  const locked = await bed.run(["lock", root]);
  assertEquals(locked.code, 0, locked.stderr);
  return `${root}/capsules/parent`;
}

const SCRIPTED = { dialect: "scripted", uri: "play.json" };

/** A model on this machine, and the variable that opens it. */
function remote(server: ModelServer, name: string): Json {
  return {
    inference: { uri: server.url, model: "m", api_key: `\${${name}}` },
    secrets: { [name]: [new URL(server.url).origin] },
  };
}

forExecutable(
  "agent: a child that names no model has its parent's, key and all; the key is in no record",
  async (bed) => {
    const turns = [DELEGATE, { when_contains: "the child's task", text: "from the child" }, WAIT, { text: "done" }];
    await using server = ModelServer.start({ turns });
    const path = await workspace(bed, remote(server, "THE_KEY"), { inference: {} });
    const key = "a-value-that-nobody-else-has";
    const { code, stdout, stderr } = await bed.run(["run", "--accept", path, "go"], { env: { THE_KEY: key } });
    assertEquals([code, stdout], [0, "done\n"], stderr);
    const asked = server.requests.filter(({ body }) => JSON.stringify(body).includes("the child's task"));
    assert(asked.length >= 1 && server.requests.every(({ headers }) => headers["authorization"] === `Bearer ${key}`));
    assertEquals(bed.sessions().length, 2);
    const found = new Deno.Command("grep", { args: ["-r", "-l", key, bed.root] }).outputSync();
    assertEquals(new TextDecoder().decode(found.stdout), "");
    assertNothingLeft(bed);
  },
);

forExecutable(
  "agent: a child's own model has the child's secret alone; without that variable it is refused",
  async (bed) => {
    await using server = ModelServer.start({ turns: [{ text: "from the child" }] });
    const path = await workspace(bed, { inference: SCRIPTED }, remote(server, "CHILD_KEY"));
    const asked = await bed.run(["run", path, "go"]);
    assertEquals(asked.code, 5);
    const shown = await bed.run(["explain", path]);
    assertMatch(shown.stdout.replace(/\n +/g, " "), /the secret CHILD_KEY is sent to http:\/\/127\.0\.0\.1:\d+/);
    const run = await bed.run(["run", "--accept", path, "go"], { env: { CHILD_KEY: "the-child-s" } });
    assertEquals([run.code, run.stdout], [0, "done\n"], run.stderr);
    assertEquals(server.requests.map(({ headers }) => headers["authorization"]), ["Bearer the-child-s"]);
    const without = await bed.run(["run", path, "go"]);
    assertEquals(without.code, 0);
    assertStringIncludes(without.stderr, "Read the secret CHILD_KEY: this variable is not set");
    assertEquals(server.requests.length, 1);
  },
);

forExecutable(
  "agent: rounds and tokens that a child writes must fit its parent's; what it leaves out does",
  async (bed) => {
    const small = { inference: { ...SCRIPTED, max_turns: 5, max_session_tokens: 5_000 } };
    const fits = await workspace(bed, small, { inference: SCRIPTED });
    assertEquals((await bed.run(["run", "--accept", fits, "go"])).code, 0);
    assertEquals(bed.sessions().length, 2);
    const wide = await workspace(bed, small, { inference: { ...SCRIPTED, max_turns: 6, max_session_tokens: 5_001 } });
    const run = await bed.run(["run", "--accept", "--json", wide, "go"]);
    assertEquals(bed.sessions().length, 3, run.stderr);
  },
);

forExecutable("agent: a session ends when its tokens are spent, also while its child worked", async (bed) => {
  const usage = { input_tokens: 500, output_tokens: 0 };
  const path = await workspace(bed, { inference: { ...SCRIPTED, max_session_tokens: 1_000 } }, { inference: SCRIPTED });
  Deno.writeTextFileSync(
    `${path}/play.json`,
    JSON.stringify({ turns: [{ ...DELEGATE, usage }, { ...WAIT, usage }, { text: "never", usage }] }),
  );
  const { code, lastLine } = await bed.run(["run", "--accept", "--json", path, "go"]);
  assertEquals([code, JSON.parse(lastLine).status], [7, "exhausted_tokens"]);
});
