import { assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import { bomText, type Contents, purl } from "./bom.ts";
import { checkBom } from "./check_bom.ts";

const CONTENTS: Contents = {
  version: "1.2.3",
  target: "x86_64-unknown-linux-gnu",
  sha256: "a".repeat(64),
  base: { kind: "unofficial", sha256: "b".repeat(64), deno: "2.0.0", v8: "14.0.0", origin: "x@1.0.0" },
  files: { "cli.js": "c".repeat(64), "vendor/tool.bin.br": "d".repeat(64) },
  packages: [
    {
      name: "@a/b",
      version: "1.0.0",
      licence: "Apache-2.0 WITH LLVM-exception",
      sha512: sha512(1),
      files: ["vendor/tool.bin.br"],
    },
    { name: "c", version: "2.0.0-rc.1", licence: "MIT", sha512: sha512(2), files: ["cli.js"] },
  ],
};

function sha512(fill: number): string {
  return new Uint8Array(64).fill(fill).toBase64();
}

Deno.test("bomText: the same contents give the same text, others another serial number", () => {
  const text = bomText(CONTENTS);
  assertEquals(bomText(structuredClone(CONTENTS)), text);
  const serial = (text: string) => checkBom(JSON.parse(text)).serialNumber;
  assertMatch(serial(text), /^urn:uuid:/);
  assertNotEquals(serial(bomText({ ...CONTENTS, sha256: "e".repeat(64) })), serial(text));
});

Deno.test("bomText: what depends on what, which base, and of what the parts are unknown", () => {
  const bom = checkBom(JSON.parse(bomText(CONTENTS)));
  const dependsOn = Object.fromEntries(bom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const [base, engine] = ["pkg:github/denoland/deno@v2.0.0", "pkg:generic/v8@14.0.0"];
  assertEquals(dependsOn["boll"], [base, "file:cli.js", "file:vendor/tool.bin.br"]);
  assertEquals(dependsOn[base], [engine]);
  assertEquals(dependsOn["file:cli.js"], ["pkg:npm/c@2.0.0-rc.1"]);
  assertEquals(dependsOn["file:vendor/tool.bin.br"], ["pkg:npm/%40a/b@1.0.0"]);
  assertEquals(bom.compositions[1]!.assemblies, [base, "pkg:npm/%40a/b@1.0.0"]);
  assertEquals(bom.components[0]!.properties, [
    { name: "boll:base", value: "unofficial" },
    { name: "boll:origin", value: "npm package x@1.0.0" },
  ]);
  const { origin: _, ...base2 } = CONTENTS.base;
  const official = checkBom(JSON.parse(bomText({ ...CONTENTS, base: { ...base2, kind: "official" } })));
  assertEquals(official.components[0]!.properties, [{ name: "boll:base", value: "official" }]);
  assertEquals(purl({ name: "@a/b", version: "1.0.0" }), "pkg:npm/%40a/b@1.0.0");
});

Deno.test("checkBom refuses what CycloneDX does not allow, and a reference to nothing", () => {
  const bom = () => JSON.parse(bomText(CONTENTS));
  checkBom(bom());
  const breaks: ((value: ReturnType<typeof bom>) => void)[] = [
    (value) => delete value.bomFormat,
    (value) => value.serialNumber = "urn:uuid:1",
    (value) => value.stranger = 1,
    (value) => value.components[0].type = "thing",
    (value) => value.components[0].hashes[0].content = "short",
    (value) => value.components[0].purl = "pkg:npm/@a/b@1",
    (value) => delete value.components[1].licenses,
    (value) => value.components[2]["bom-ref"] = value.components[1]["bom-ref"],
    (value) => value.dependencies[0].dependsOn.push("nothing"),
  ];
  for (const change of breaks) {
    const value = bom();
    change(value);
    assertThrows(() => checkBom(value), String(change));
  }
});
