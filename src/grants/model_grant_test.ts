import { assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import type { AgentCapsule, Inference, Workspace } from "../manifest/mod.ts";
import { type ModelFlags, resolveModel } from "./model_grant.ts";

const INFERENCE: Inference = {
  uri: "https://a.example/v1,https://b.example",
  model: "m",
  api_key: "KEY",
  headers: [{ name: "x-team", value: "one" }, { name: "x-gate", secret: "GATE" }],
  max_turns: 10,
  max_output_tokens: 4096,
  max_session_tokens: 1000,
};

const SECRETS = { KEY: ["https://a.example", "https://b.example"], GATE: ["https://a.example", "https://b.example"] };

function agent(inference: Inference, secrets: AgentCapsule["manifest"]["secrets"] = SECRETS): AgentCapsule {
  const manifest = { name: "a", inference, secrets } as unknown as AgentCapsule["manifest"];
  return { name: "a", manifest, playbook: "{}" } as unknown as AgentCapsule;
}

function resolve(flags: ModelFlags, capsule = agent(INFERENCE), workspaces: readonly Workspace[] = []) {
  return resolveModel({ capsule, flags, workspaces });
}

Deno.test("resolveModel: the manifest's endpoints, with each variable for the origins of those alone", () => {
  assertEquals(resolve({}), {
    grant: {
      dialect: "openai",
      endpoints: ["https://a.example/v1", "https://b.example"],
      model: "m",
      api_key: "KEY",
      headers: INFERENCE.headers,
      secrets: SECRETS,
      from: "manifest",
    },
    warnings: [],
  });
  assertEquals(resolve({ model: "other" }).grant?.model, "other");
});

Deno.test("resolveModel: an endpoint that the operator typed gets no variable that the manifest lists for others", () => {
  const { grant, warnings } = resolve({ uri: "http://127.0.0.1:8080/v1" });
  assertEquals([grant?.endpoints, grant?.from], [["http://127.0.0.1:8080/v1"], "operator"]);
  assertEquals([grant?.api_key, grant?.secrets, warnings.length], [undefined, {}, 2]);
  assertEquals(grant?.headers, [{ name: "x-team", value: "one" }]);
  const known = resolve({ uri: "https://b.example/v2" }).grant;
  assertEquals([known?.api_key, known?.secrets.KEY], ["KEY", ["https://b.example"]]);
});

Deno.test("resolveModel: the variable that the operator names goes where he says, and no other", () => {
  const { grant } = resolve({ uri: "https://c.example", apiKey: "OTHER" });
  assertEquals([grant?.api_key, grant?.secrets], ["OTHER", { OTHER: ["https://c.example"] }]);
});

Deno.test("resolveModel: where a flag stands for an endpoint or a secret of the manifest's, that is said", () => {
  const isNarrowed = (flags: ModelFlags, capsule = agent(INFERENCE)) => resolve(flags, capsule).isNarrowed ?? false;
  const both = "https://b.example,https://a.example/v1";
  for (
    const flags of [{}, { model: "n" }, { dialect: "anthropic" as const }, { uri: both }, {
      uri: `${both},https://b.example/x`,
    }]
  ) {
    assertEquals(isNarrowed(flags), false, JSON.stringify(flags));
  }
  const elsewhere = { uri: "http://127.0.0.1:8080" };
  const scripted = { uri: "play.json", dialect: "scripted" as const, playbook: "{}" };
  for (const flags of [{ apiKey: "MINE" }, { uri: "https://a.example/v1" }, elsewhere, scripted]) {
    assertEquals(isNarrowed(flags), true, JSON.stringify(flags));
  }
  // Nothing of its own is left out: it names no endpoint, or plays.
  const { uri: _, api_key: __, ...bare } = { ...INFERENCE, headers: [] };
  for (const inference of [bare, { ...bare, dialect: "scripted" as const, uri: "play.json" }]) {
    for (const flags of [{}, elsewhere]) assertEquals(isNarrowed(flags, agent(inference, {})), false);
  }
  // A secret that no endpoint stands for yet has not been shown.
  assertEquals(isNarrowed({}, agent({ ...bare, api_key: "KEY" })), true);
});

Deno.test("resolveModel: a playbook is sent nothing; what makes no sense together is refused", () => {
  const scripted = agent({ ...INFERENCE, uri: "play.json", dialect: "scripted", headers: [] }, {});
  assertEquals(resolve({}, scripted), {
    grant: { dialect: "scripted", endpoints: [], model: "m", headers: [], secrets: {}, from: "manifest" },
    playbook: "{}",
    warnings: [],
  });
  assertEquals(resolve({ uri: "https://c.example" }, scripted).grant?.dialect, "openai");
  assertEquals(resolve({ uri: "p.json", dialect: "scripted", playbook: "[]" }).playbook, "[]");
  const code = (flags: ModelFlags, capsule?: AgentCapsule) =>
    assertThrows(() => resolve(flags, capsule), CapsuleError).code;
  assertEquals(code({ dialect: "scripted" }), "usage.bad_value");
  assertEquals(code({ dialect: "openai" }, scripted), "usage.bad_value");
  assertEquals(code({ apiKey: "K" }, scripted), "usage.bad_value");
  assertEquals(code({ uri: "http://a.example" }), "inference.bad_uri");
  assertThrows(() => resolve({ uri: "x", model: "m" }), CapsuleError, "Read --uri: found");
  assertEquals(code({ uri: "https://u:p@a.example" }), "inference.bad_uri");
  const { model: _, uri: __, ...bare } = INFERENCE;
  assertEquals(resolve({}, agent(bare)), { warnings: [], isNarrowed: true });
  assertEquals(code({ model: "m" }, agent(bare)), "usage.bad_value");
  assertEquals(code({ uri: "https://a.example" }, agent(bare)), "usage.bad_value");
});

Deno.test("resolveModel: a boll.jsonc that lists secrets allows those alone, also what the operator types", () => {
  const workspace = (secrets: readonly string[]) => ({
    path: "/w/boll.jsonc",
    secrets,
    positions: { lineOf: () => 3 },
  });
  const below = (flags: ModelFlags, ...names: string[]) =>
    resolve(flags, agent(INFERENCE), [workspace(names) as unknown as Workspace]);
  assertEquals(below({}, "KEY", "GATE").grant?.api_key, "KEY");
  for (const [flags, names] of [[{}, ["KEY"]], [{ apiKey: "OTHER" }, ["KEY", "GATE"]]] as const) {
    const error = assertThrows(() => below(flags, ...names), CapsuleError);
    assertEquals([error.code, error.message.includes("/w/boll.jsonc:3")], ["grant.exceeds_ceiling", true]);
  }
});
