import { assert, assertEquals, assertThrows } from "@std/assert";
import { initialize } from "esbuild";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { dirname, join } from "@std/path";
import { findBaseBinary } from "./base_binary.ts";
import { cutBelowAttic } from "./attic.ts";
import { buildExecutable, type Built, layOut, makeFast } from "./build.ts";
import { compileFolder, listFiles } from "./compile.ts";
import { checkBom, type CheckedBom } from "./check_bom.ts";
import { embeddedPackages } from "./embedded_packages.ts";
import { noticesText } from "./notices.ts";
// What the warm-up guests are made with reads files from its import on.
import "../tests/fixtures/build.ts";

// The bundler's own process serves all tests of this file, so that it is no leak of one of them.
await initialize({});

const ROOT = join(import.meta.dirname!, "..");

/** Whose work is inside: whoever lets another package in says so here. */
const EMBEDDED = [
  "pkg:npm/%40a2a-js/sdk@1.3.0",
  "pkg:npm/%40ai-sdk/anthropic@4.0.105",
  "pkg:npm/%40ai-sdk/openai-compatible@3.0.92",
  "pkg:npm/%40ai-sdk/provider@4.0.38",
  "pkg:npm/%40ai-sdk/provider-utils@5.0.81",
  "pkg:npm/%40bytecodealliance/jco@1.35.0",
  "pkg:npm/%40bytecodealliance/jco-transpile@0.15.0",
  "pkg:npm/%40cfworker/json-schema@4.1.1",
  "pkg:npm/%40workflow/serde@4.1.0",
  "pkg:npm/deno-std@1.4.0",
  "pkg:npm/eventsource-parser@3.1.1",
  "pkg:npm/jsonc-parser@3.3.1",
  "pkg:npm/zod@4.6.7",
];

/** The checkout in another folder of the same disk, with what was fetched and prepared for it. */
function copyCheckout(to: string): void {
  const paths = ["src", "node_modules", ".build/base", ".build/vendor"].flatMap((folder) => listFiles(ROOT, folder));
  for (const path of ["deno.json", "deno.lock", "main.ts", ...paths]) {
    const [from, copy] = [join(ROOT, path), join(to, path)];
    Deno.mkdirSync(dirname(copy), { recursive: true });
    if (Deno.lstatSync(from).isSymlink) Deno.symlinkSync(Deno.readLinkSync(from), copy);
    else Deno.linkSync(from, copy);
  }
}

Deno.test("buildExecutable gives the same bytes from another folder, and its bill of materials names every one of them", async () => {
  const folder = Deno.makeTempDirSync({ dir: join(ROOT, ".build"), prefix: "test-" });
  try {
    const [copy, parts] = [join(folder, "a copy"), join(folder, "parts")];
    copyCheckout(copy);
    const built = await buildExecutable(copy);
    const base = await findBaseBinary(join(ROOT, ".build", "base"));
    await layOut(ROOT, parts, base);
    await makeFast(ROOT, parts, base);
    await compileFolder(parts, base, join(folder, "twin"));
    assertEquals(sha256(Deno.readFileSync(join(folder, "twin"))), built.sha256);
    checkContents(built, parts);
    checkLeftAlone(built, await buildExecutable(copy));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

/** The bill of materials beside the executable against the executable itself. */
function checkContents({ path, sha256: whole }: Built, parts: string): void {
  const text = Deno.readTextFileSync(`${path}.cdx.json`);
  const bom = checkBom(JSON.parse(text));
  const executable = Deno.readFileSync(path);
  const base = cutBelowAttic(executable);
  assertEquals(hashOf(bom.metadata.component), whole);
  assertEquals(hashOf(find(bom, "denort")), sha256(base));
  const files = bom.components.filter(({ type }) => type === "file").map((file) => [file.name, hashOf(file)]);
  assertEquals(files, listFiles(parts).map((file) => [file, sha256(Deno.readFileSync(join(parts, file)))]));
  const rest = withoutFiles(executable.subarray(base.length), parts);
  assert(rest < 16_384, `found ${rest} bytes beside the files named, wanted no more than their index`);
  assertEquals(bom.components.map(({ purl }) => purl ?? "").filter((purl) => purl.startsWith("pkg:npm/")), EMBEDDED);
  const notices = Deno.readTextFileSync(join(dirname(path), "THIRD_PARTY_NOTICES.txt"));
  for (const { group, name, version } of bom.components.filter(({ type }) => type !== "file")) {
    assert(notices.includes(`\n${group ? `${group}/` : ""}${name} ${version} (`), name);
  }
}

/** How many bytes of `appended` are not those of a file of `parts`; equal files are stored once. */
function withoutFiles(appended: Uint8Array, parts: string): number {
  const places = new Map<number, number>();
  for (const path of listFiles(parts)) {
    const bytes = Deno.readFileSync(join(parts, path));
    const at = Buffer.from(appended.buffer, appended.byteOffset, appended.length).indexOf(bytes);
    assert(at >= 0, `${path} is not in the executable`);
    places.set(at, bytes.length);
  }
  return appended.length - [...places.values()].reduce((sum, length) => sum + length, 0);
}

function checkLeftAlone(first: Built, second: Built): void {
  assertEquals(second, first);
  assertEquals(listFiles(dirname(first.path)), ["THIRD_PARTY_NOTICES.txt", "boll", "boll.cdx.json"]);
}

Deno.test("embeddedPackages names a package of the lock file once, and refuses one that it does not pin or that has no licence", () => {
  const root = Deno.makeTempDirSync();
  const write = (path: string, value: unknown) => {
    Deno.mkdirSync(dirname(join(root, path)), { recursive: true });
    Deno.writeTextFileSync(join(root, path), JSON.stringify(value));
  };
  try {
    write("deno.lock", {
      npm: { "@a/b@1.0.0_c@2.0.0": { integrity: "sha512-AAAA" }, "d@3.0.0": { integrity: "sha512-AAAA" } },
    });
    write("node_modules/.deno/@a+b@1.0.0/node_modules/@a/b/package.json", {
      ...{ name: "@a/b", version: "1.0.0", license: "(MIT)" },
    });
    write("node_modules/d/package.json", { name: "d", version: "3.0.0" });
    write("node_modules/e/package.json", { name: "e", version: "1.0.0", license: "MIT" });
    const within = "node_modules/.deno/@a+b@1.0.0/node_modules/@a/b";
    const sources = { "cli.js": ["src/x.ts", `${within}/x.js`, `${within}/y.js`], "cell.js": [`${within}/x.js`] };
    assertEquals(embeddedPackages(root, sources), [{
      ...{ name: "@a/b", version: "1.0.0", licence: "MIT", sha512: "AAAA", folder: join(root, within) },
      files: ["cell.js", "cli.js"],
    }]);
    const refuse = (path: string, message: string) =>
      assertThrows(() => embeddedPackages(root, { "cli.js": [path] }), Error, message);
    refuse("node_modules/d/x.js", "found no licence in d@3.0.0");
    refuse("node_modules/e/x.js", "found e@1.0.0, wanted a package that deno.lock pins");
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("noticesText gives each text once with all its works, and refuses a licence that is not allowed or has no text", () => {
  const folder = Deno.makeTempDirSync();
  try {
    Deno.writeTextFileSync(join(folder, "LICENSE.md"), "Do as you like.\n");
    const own = { name: "@a/b", version: "1.0.0", licence: "MIT", folder };
    const text = noticesText([own, { name: "@a/c", version: "2.0.0", licence: "MIT" }]);
    assertEquals(text.split("Do as you like.").length, 2);
    assert(text.includes("\n@a/b 1.0.0 (MIT)\n@a/c 2.0.0 (MIT)\n\nDo as you like."));
    assertThrows(() => noticesText([{ ...own, licence: "AGPL-3.0" }]), Error, "found AGPL-3.0, wanted one of MIT");
    assertThrows(() => noticesText([own, { name: "c", version: "2.0.0", licence: "MIT" }]), Error, "found none");
    assertThrows(() => noticesText([own, { name: "@a/c", version: "2.0.0", licence: "ISC" }]), Error, "found none");
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

function find(bom: CheckedBom, name: string): CheckedBom["components"][number] {
  return bom.components.find((component) => component.name === name)!;
}

function hashOf({ hashes }: CheckedBom["components"][number]): string {
  return hashes![0]!.content;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
