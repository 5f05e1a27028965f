import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { CapsuleError } from "../base/mod.ts";
import { formatLock, type LockEntry } from "./lock.ts";
import { parseLock } from "./parse_lock.ts";

const DIGEST = `sha256:${"5a".repeat(32)}`;
const ENTRY: LockEntry = { version: "1.0.0", digest: DIGEST, path: "capsules/worker" };

function problems(text: string): readonly string[] {
  const error = assertThrows(() => parseLock(text, "boll.lock"), CapsuleError);
  assertEquals([error.code, error.exitStatus], ["lock.invalid", 2]);
  assert(error.message.includes("boll lock") && error.message.length < 5_000, error.message);
  return error.problems.map((problem) => problem.replace(/^boll\.lock: /, ""));
}

const lockOf = (capsules: unknown) => JSON.stringify({ version: 1, capsules });

Deno.test("formatLock, parseLock: what is written is read again; names in order, whatever order they came in", () => {
  const name = fc.stringMatching(/^[a-z0-9-]{1,8}$/);
  fc.assert(fc.property(fc.uniqueArray(fc.oneof(name, fc.constantFrom("constructor", "10", "9"))), (names) => {
    const text = formatLock(new Map(names.map((one) => [one, ENTRY])));
    assertEquals(parseLock(text, "boll.lock"), new Map(names.map((one) => [one, ENTRY])));
    assertEquals(text, formatLock(new Map(names.toReversed().map((one) => [one, ENTRY]))));
  }));
  const swapped = { path: "b", digest: DIGEST, version: "1.0.0" };
  assertEquals(
    formatLock(new Map([["b", swapped], ["a", { ...ENTRY, more: 1 } as LockEntry]])),
    `{
  "version": 1,
  "capsules": {
    "a": {
      "version": "1.0.0",
      "digest": "${DIGEST}",
      "path": "capsules/worker"
    },
    "b": {
      "version": "1.0.0",
      "digest": "${DIGEST}",
      "path": "b"
    }
  }
}
`,
  );
});

Deno.test("parseLock: everything wrong is named at once, and nothing of a wrong lock counts", () => {
  assertEquals(
    problems(
      `{ "version": 2, "more": 1, "capsules": { "a": 1, "B c": {}, "d": { "version": 1, "digest": "sha256:0", "path": "/etc", "url": "x" } } }`,
    ),
    [
      "more: unknown key, allowed: version, capsules",
      "version: found 2, wanted 1",
      "capsules.a: found 1, wanted an object",
      "capsules.B c: no capsule has this name, wanted 1 to 64 of a-z 0-9 -",
      "capsules.B c.version: found nothing, wanted a semantic version",
      "capsules.B c.digest: found nothing, wanted sha256: and 64 hex digits",
      "capsules.B c.path: found nothing, wanted a folder below this file's, without '.' and '..'",
      "capsules.d.version: found 1, wanted a semantic version",
      `capsules.d.digest: found "sha256:0", wanted sha256: and 64 hex digits`,
      `capsules.d.path: found "/etc", wanted a folder below this file's, without '.' and '..'`,
      "capsules.d.url: unknown key, allowed: version, digest, path",
    ],
  );
  assertEquals(problems(`{ "version": 1 }`), ["capsules: found nothing, wanted an object"]);
  for (const [text, found] of [["[]", "an array"], ["null", "null"], ['"x"', '"x"']]) {
    assertEquals(problems(text!), [`found ${found}, wanted an object`]);
  }
  assertEquals(problems(lockOf([])), ["capsules: found an array, wanted an object"]);
  assertEquals(parseLock(lockOf({}), "boll.lock").size, 0);
});

Deno.test("parseLock: no JSON, a text of two merged versions, and comments are refused", () => {
  const merged = formatLock(new Map([["a", ENTRY]])).replace(`"a"`, `<<<<<<< ours\n    "a"`);
  for (const text of ["", "{", merged, `// x\n${lockOf({})}`, `\ufeff${lockOf({})}`, "[".repeat(100_000)]) {
    assertEquals(problems(text), ["found no JSON (were two versions of it merged?)"], text.slice(0, 20));
  }
});

Deno.test("parseLock: what stands twice is refused wherever, also when written otherwise, and only then", () => {
  const entry = JSON.stringify(ENTRY);
  assertEquals(problems(`{ "version": 1, "capsules": { "a": ${entry}, "\\u0061": ${entry} } }`), [
    "capsules.a: found it twice",
  ]);
  const digest = `"digest": "${DIGEST}"`;
  assertEquals(
    problems(
      `{ "version": 1, "capsules": { "a": { ${digest}, "version": "1.0.0", ${digest}, "path": "a" } }, "version": 1 }`,
    ),
    ["capsules.a.digest: found it twice", "version: found it twice"],
  );
  // A value like a key, and the same key in two objects, are usual.
  const usual = { version: "1.0.0", digest: DIGEST, path: 'version":{' };
  assertEquals(parseLock(lockOf({ a: usual, version: usual }), "boll.lock").size, 2);
});

Deno.test("parseLock: a path names one folder below, in one way; every other is refused", () => {
  const of = (path: string) => lockOf({ a: { ...ENTRY, path } });
  for (const path of ["a", "a/b", "...", "a b", "-", "\u00fc", "a/..b", "C:\\x"]) {
    assertEquals(parseLock(of(path), "boll.lock").get("a")?.path, path);
  }
  for (
    const path of [
      "",
      ".",
      "..",
      "/",
      "/a",
      "a/",
      "./a",
      "a/.",
      "a/./b",
      "a//b",
      "../a",
      "a/..",
      "a/../../b",
      "a\0",
      "a".repeat(5_000),
    ]
  ) {
    assertEquals(problems(of(path)).length, 1, path.slice(0, 20));
  }
});

Deno.test("parseLock: hostile text is bounded, made safe, and cannot reach a prototype", () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`\x1b[31m${"x".repeat(900)}${index}`, 1]));
  const lines = problems(lockOf(many));
  assertEquals([lines.length, lines.at(-1)], [101, "… and 900 more"]);
  assert(!lines.join("").includes("\x1b") && lines.join("").length < 100_000);
  const entry = JSON.stringify(ENTRY);
  assert(problems(`{ "version": 1, "capsules": { "__proto__": ${entry} } }`)[0]!.includes("__proto__"));
  assertEquals(problems(`{ "version": 1, "__proto__": { "capsules": {} } }`).length, 2);
  const inherited = `{ "version": 1, "capsules": { "a": { "__proto__": ${entry} } } }`;
  assertEquals(problems(inherited).length, 4);
  const long = '\\"'.repeat(250_000);
  assertEquals(
    problems(`{ "version": 1, "capsules": {}, "${long}": "${long}", "${"a".repeat(500_000)}": 1 }`).length,
    2,
  );
});
