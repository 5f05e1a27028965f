import { assert, assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import type { ModelGrant } from "../../grants/mod.ts";
import { readIntelligence } from "./intelligence.ts";

const GRANT: ModelGrant = {
  dialect: "anthropic",
  endpoints: ["https://a.example/v1", "http://127.0.0.1:8080"],
  model: "m",
  api_key: "KEY",
  headers: [{ name: "x-team", value: "one" }, { name: "x-gate", secret: "GATE" }],
  secrets: { KEY: ["https://a.example"], GATE: ["https://a.example"] },
  from: "manifest",
};

function read(variables: Readonly<Record<string, string>>) {
  return readIntelligence({ grant: GRANT, warnings: [] }, (name) => variables[name]);
}

Deno.test("readIntelligence: values for the session, the variable's name beside the key", () => {
  assertEquals(read({ KEY: "the-key", GATE: "Bearer other", MORE: "x" }), {
    uri: "https://a.example/v1,http://127.0.0.1:8080",
    dialect: "anthropic",
    model: "m",
    token: "the-key",
    credential: "KEY",
    headers: [["x-team", "one"], ["x-gate", "Bearer other"]],
  });
});

Deno.test("readIntelligence: a playbook is sent in the frame; no variable is read for it", () => {
  const grant = { ...GRANT, dialect: "scripted" as const, endpoints: [], api_key: "KEY" };
  const playbook = '{"turns": [{"text": "100 % ü"}]}';
  const { uri, token } = readIntelligence({ grant, playbook, warnings: [] }, () => {
    throw new Error("a variable was read");
  });
  assertEquals([decodeURIComponent(uri.slice("data:application/json,".length)), token], [playbook, undefined]);
});

Deno.test("readIntelligence: a variable that is missing, empty or no header's value is refused by name, never by value", () => {
  for (const KEY of [undefined, "", "a\nb", "a\r\nx: y", " a", "a ", "é", "\0", "x".repeat(16_385)]) {
    const error = assertThrows(() => read({ GATE: "g", ...(KEY === undefined ? {} : { KEY }) }), CapsuleError);
    assertEquals([error.code, error.exitStatus], ["secret.unusable", 2]);
    assert(error.message.startsWith("Read the secret KEY: "), error.message);
    assert(error.message.endsWith("its value is sent to https://a.example"), error.message);
    assertEquals(error.message.includes("export KEY=… before"), KEY === undefined || KEY === "");
    if (KEY !== undefined && KEY.length > 2) assert(!error.message.includes(KEY), error.message);
  }
});
