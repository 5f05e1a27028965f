import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import { encodeSpawner, parseSpawner, readSpawner, type SpawnerHandle } from "./spawner_handle.ts";

const LINEAGE: SpawnerHandle = { session_id: "ses_1", context_id: "ctx_2", delegation_id: "dlg_3" };
const WITH_ADDRESS: SpawnerHandle = { ...LINEAGE, url: "http://127.0.0.1:4242/" };

Deno.test("SpawnerHandle: round trip, in compact JSON, and with blanks around it", () => {
  for (const handle of [LINEAGE, WITH_ADDRESS, { ...WITH_ADDRESS, context_id: 'c"\n\u202e漢' }]) {
    const value = encodeSpawner(handle);
    assertEquals(parseSpawner(value), handle);
    assertEquals(readSpawner(` \n${value}\t `), handle);
    assertEquals(value, JSON.stringify(handle));
  }
});

Deno.test("SpawnerHandle: lineage-only has no address; none has a word of trust, a credential, or a key beyond the four", () => {
  const over = { ...LINEAGE, trust: "user", token: "secret", trust_class: "system" } as SpawnerHandle;
  const value = encodeSpawner(over);
  assertEquals(value, '{"session_id":"ses_1","context_id":"ctx_2","delegation_id":"dlg_3"}');
  for (const word of ["url", "trust", "token", "secret", "null"]) assert(!value.includes(word), word);
  assertEquals(Object.keys(parseSpawner(value)), Object.keys(LINEAGE));
  assertEquals(parseSpawner(JSON.stringify(over)), LINEAGE);
  assertStringIncludes(encodeSpawner(WITH_ADDRESS), '"url":"http://127.0.0.1:4242/"');
});

Deno.test("readSpawner: unset and blank are nobody's child; every unreadable kind is an error and says why that is fatal", () => {
  for (const blank of [undefined, "", " ", "\t\n "]) assertEquals(readSpawner(blank), undefined);
  const without = (key: string, value?: unknown) => JSON.stringify({ ...WITH_ADDRESS, [key]: value });
  const unreadable = ["", " ", "nonsense", "{", "null", "7", '"text"', "true", "[]", "[{}]", "{}"];
  for (const key of ["session_id", "context_id", "delegation_id"]) {
    for (const value of [undefined, "", null, 7, {}, ["a"], true]) unreadable.push(without(key, value));
  }
  for (const value of ["", null, 7, {}, false]) unreadable.push(without("url", value));
  unreadable.push('{"__proto__":{"session_id":"a","context_id":"b","delegation_id":"c"}}');
  for (const value of unreadable) {
    const error = assertThrows(() => parseSpawner(value), CapsuleError);
    assertEquals([error.code, error.exitStatus], ["payload.bad_spawner", 2], value);
    assertStringIncludes(error.message, "tell its spawner that it finished");
    if (value.trim() !== "") assertThrows(() => readSpawner(value), CapsuleError);
  }
  assertEquals(parseSpawner(without("url")), LINEAGE);
});

Deno.test("parseSpawner: its error never repeats what the value holds", () => {
  const error = assertThrows(() => parseSpawner('{"session_id":"s3cret","context_id":7}'), CapsuleError);
  assert(!error.message.includes("s3cret"));
  assertStringIncludes(error.message, "context_id");
});
