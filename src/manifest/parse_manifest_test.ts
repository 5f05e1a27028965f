import { assert, assertEquals, assertThrows } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { CapsuleError } from "../base/mod.ts";
import fc from "fast-check";
import { printJsonSchema } from "./json_schema.ts";
import { parseManifest, parseWorkspace } from "./parse_manifest.ts";

const TESTDATA = fromFileUrl(new URL("./testdata", import.meta.url));
const pairs = [...Deno.readDirSync(TESTDATA)].map((entry) => entry.name).filter((name) => name.endsWith(".jsonc"))
  .sort();

/** Reads like a file on disk does: byte order mark kept. */
function readExactly(name: string): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return decoder.decode(Deno.readFileSync(join(TESTDATA, name)));
}

function readIfThere(name: string): string | undefined {
  try {
    return Deno.readTextFileSync(join(TESTDATA, name));
  } catch {
    return undefined;
  }
}

for (const name of pairs) {
  const stem = name.slice(0, -".jsonc".length);
  Deno.test(`parseManifest: ${name} gives what its pair says`, () => {
    const value = readIfThere(`${stem}.expected.json`);
    const text = readIfThere(`${stem}.expected.txt`);
    assert((value === undefined) !== (text === undefined), "wanted exactly one of .expected.json and .expected.txt");
    if (value !== undefined) {
      assertEquals(withoutPositions(parseManifest(readExactly(name), name)), JSON.parse(value));
      return;
    }
    const error = assertThrows(() => parseManifest(readExactly(name), name), CapsuleError);
    assertEquals(`${error.code}\n${error.problems.join("\n")}\n`, text);
  });
}

function withoutPositions({ positions: _, ...rest }: ReturnType<typeof parseManifest>): unknown {
  return rest;
}

const HEAD = `"name": "a", "version": "1.0.0", "component": "a.wasm"`;

function refusal(text: string): CapsuleError {
  return assertThrows(() => parseManifest(text, "capsule.jsonc"), CapsuleError);
}

Deno.test("parseManifest: deep nesting is refused at the limit + 1 and never overflows the stack", () => {
  const nested = (depth: number) => `{ ${HEAD}, "x": ${"[".repeat(depth)}${"]".repeat(depth)} }`;
  assertEquals(refusal(nested(31)).code, "manifest.invalid");
  assertEquals(refusal(nested(32)).code, "manifest.syntax");
  for (const open of ["[", '{"a":', "[{"]) {
    const message = refusal(open.repeat(200_000)).message;
    assert(/^capsule\.jsonc:1:\d+: nested deeper than 32 levels$/.test(message), message);
  }
});

Deno.test("parseManifest: 60 000 unknown keys and a key of 900 KB are named, cut and counted", () => {
  const many = Array.from({ length: 60_000 }, (_, index) => `"k${index}": 1`).join(",");
  const error = refusal(`{ ${HEAD}, ${many} }`);
  assertEquals([error.problems.length, error.problems.at(-1)], [101, "… and 59900 more"]);
  const long = refusal(`{ ${HEAD}, "${"k".repeat(900_000)}": 1 }`);
  assert(long.message.length < 500, String(long.message.length));
});

Deno.test("parseManifest: a credential is never in a message, wherever it stands", () => {
  const token = "ghp" + "_abcdefghijklmnopqrstuvwxyz0123456789";
  for (
    const rest of [
      `"description": "x ${token}"`,
      `"args": ["${token}"]`,
      `"${token}": { "${token}": "\${X}" }`,
      `"${token}": 1, "${token}": 2`,
      `"grants": { "containment": "${token}", "env": ["${token}"], "stdio": "${token}" }`,
      `"inference": { "api_key": "${token}", "headers": { "x-a": "${token}", "${token}": "b" }, "uri": "${token}" }`,
      `"secrets": { "${token}": ["${token}"] }, "tools": [{ "name": "${token}", "component": "${token}" }]`,
    ]
  ) {
    const error = refusal(`{ ${HEAD}, ${rest} }`);
    assertEquals(error.code, "manifest.invalid");
    assert(!error.message.includes(token) && !error.problems.join().includes(token), error.problems.join("\n"));
  }
});

Deno.test("parseManifest: damaged text is read, or refused by name with a place", () => {
  const whole = [readExactly("full.jsonc"), readExactly("agent_full.jsonc")];
  fc.assert(
    fc.property(
      fc.constantFrom(...whole),
      fc.nat(),
      fc.nat(20),
      fc.string({ maxLength: 6 }),
      (whole, to, cut, insert) => {
        const at = to % whole.length;
        const text = whole.slice(0, at) + insert + whole.slice(at + cut);
        try {
          parseManifest(text, "f");
        } catch (error) {
          assert(error instanceof CapsuleError, String(error));
          assert(/^manifest\.(syntax|invalid)$/.test(error.code) && error.problems.length > 0);
        }
      },
    ),
    { numRuns: 600 },
  );
});

Deno.test("parseManifest: positions give the line of a key, or of its nearest written ancestor", () => {
  const { positions } = parseManifest(readExactly("full.jsonc"), "full.jsonc");
  assertEquals(positions.lineOf("grants.clocks"), 19);
  assertEquals(positions.at("grants.fs.mounts[1].mode"), { line: 14, column: 36 });
  assertEquals([positions.has("grants.plan"), positions.lineOf("grants.plan")], [false, 9]);
  assertEquals([positions.has("nothing[3].here"), positions.lineOf("nothing[3].here")], [false, 1]);
});

Deno.test("capsule.schema.json: is what the schema prints today", () => {
  const path = fromFileUrl(new URL("../../capsules/capsule.schema.json", import.meta.url));
  const fix = "run: deno run --allow-read src/manifest/json_schema.ts > capsules/capsule.schema.json";
  assertEquals(Deno.readTextFileSync(path), printJsonSchema(), fix);
});

Deno.test("parseWorkspace: globs and ceiling are read, and each bad one is named", () => {
  const { value } = parseWorkspace(
    `{ "capsules": ["apps/*", "."], "ceiling": { "env": ["LANG"], "net": ["HTTPS://A.example"], "spawn": ["b"] }, "secrets": ["A_KEY"] }`,
    "boll.jsonc",
  );
  assertEquals(value, {
    capsules: ["apps/*", "."],
    ceiling: { env: ["LANG"], net: ["https://a.example"], spawn: ["b"] },
    secrets: ["A_KEY"],
  });
  const text =
    `{ "capsules": ["../x", "/y", "a{b,c}"], "ceiling": { "net": ["a"], "plan": {}, "spawn": ["a@1.0.0"], "env": ["A_TOKEN"] }, "secrets": {}, "proxy": 1 }`;
  const error = assertThrows(() => parseWorkspace(text, "boll.jsonc"), CapsuleError);
  assertEquals(error.code, "workspace.invalid");
  assertEquals(error.problems.map((line) => line.split(": ")[1]), [
    "capsules[0]",
    "capsules[1]",
    "capsules[2]",
    "ceiling.net[0]",
    "ceiling.plan",
    "ceiling.spawn[0]",
    "ceiling.env[0]",
    "secrets",
    "proxy",
  ]);
});

Deno.test("parseWorkspace: proxy is http://host[:port] and ca a file; anything else is refused by name", () => {
  const { value } = parseWorkspace(`{ "proxy": "http://proxy.local:3128", "ca": "certs/ca.pem" }`, "boll.jsonc");
  assertEquals(value, { proxy: "http://proxy.local:3128", ca: "certs/ca.pem" });
  for (const proxy of ["https://p:1", "http://p:1/", "p:1", "http://*.p.local:1", "http://u@p:1", "socks5://p:1", ""]) {
    const text = JSON.stringify({ proxy });
    const error = assertThrows(() => parseWorkspace(text, "boll.jsonc"), CapsuleError, "boll.jsonc:1:2: proxy: ");
    assertEquals(error.code, "workspace.invalid", proxy);
  }
  const error = assertThrows(() => parseWorkspace(`{ "proxy": 1, "ca": "" }`, "boll.jsonc"), CapsuleError);
  assertEquals(error.problems.map((line) => line.split(": ")[1]), ["proxy", "ca"]);
});
