import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { initialize } from "esbuild";
import { bundleRoles, mapName } from "./bundle.ts";
import { ROLES } from "./rooms.ts";

// The bundler's own process serves all tests of this file, so that it is no leak of one of them.
await initialize({});

/** Bundles a checkout in which every role is empty but for `files`, and gives each bundle's text. */
async function bundle(files: Record<string, string>): Promise<Record<string, string>> {
  const root = Deno.makeTempDirSync({ prefix: "boll-bundle-" });
  try {
    const all = { ...Object.fromEntries(Object.keys(ROLES).map((entry) => [entry, "export {};"])), ...files };
    for (const [path, text] of Object.entries({ "deno.json": "{}", ...all })) {
      Deno.mkdirSync(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(`${root}/${path}`, text);
    }
    const sources = await bundleRoles({ root, outputFolder: `${root}/out`, define: { BUILT: "1.2.3" } });
    return Object.fromEntries(
      Object.keys(sources).sort().map((name) => [name, Deno.readTextFileSync(`${root}/out/${name}`)]),
    );
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("bundleRoles gives one file per role, in which main.js loads the others only when asked", async () => {
  const bundles = await bundle({
    "deno.json": `{"imports": {"@std/path": "./src/std/path.ts"}}`,
    "src/std/path.ts": `export const join = () => "joined";`,
    "src/base/mod.ts": `export const shared = () => "in base";`,
    "main.ts": `if (Deno.args[0]) await import("./src/guest/cell_main.ts"); else await import("./src/cli/main.ts");`,
    "src/cli/main.ts": `import { shared } from "../base/mod.ts"; console.log(shared(), BUILT);
      (await import("./verb.ts")).run();`,
    "src/cli/verb.ts": `import { join } from "@std/path"; export const run = () => console.log("verb", join());`,
    "src/guest/cell_main.ts": `import { shared } from "../base/mod.ts"; console.log(shared());
      import { spawn } from "node:child_process"; spawn(); await import("./build_main.ts");`,
  });
  const names = Object.keys(bundles);
  assertEquals(names.filter((name) => !/^[a-z]+-[A-Z0-9]{8}\.js$/.test(name)), Object.values(ROLES).sort());
  const chunk = names.find((name) => name.startsWith("verb-"))!;
  assertMatch(
    bundles["main.js"]!,
    /^Deno\.args\[0\]\?await import\("\.\/cell\.js"\):await import\("\.\/cli\.js"\);\n$/,
  );
  assertMatch(bundles["cli.js"]!, /in base.*1\.2\.3.*import\("\.\/verb-/s);
  assertMatch(bundles[chunk]!, /"joined"/);
  assertMatch(bundles["cell.js"]!, /in base.*from"node:child_process".*import\("\.\/build_cell\.js"\)/s);
});

Deno.test("bundleRoles fails on an import that would be left to the executable, and passes its resolved twin", async () => {
  await bundle({ "src/cli/main.ts": `await import("./x.ts");`, "src/cli/x.ts": "export {};" });
  const left = {
    "await import(name);": "will not be bundled",
    'await import("./missing.ts");': "Could not resolve",
    'try { await import("absent-package"); } catch {}': "found an import of absent-package left open",
    'import "https://example.com/x.ts";': "found an import of https://example.com/x.ts left open",
    "require(name);": "will not be bundled",
    'eval("1");': "eval",
  };
  for (const [source, message] of Object.entries(left)) {
    await assertRejects(() => bundle({ "src/cli/main.ts": source }), Error, message);
  }
});

Deno.test("mapName reads the import map as Deno does and strips npm: and versions", () => {
  const map = {
    "@std/path": "./src/std/path.ts",
    "zod/mini": "npm:zod@4.6.7/mini",
    "a/": "npm:/@b/a@1.0.0/",
    "a/x/": "./x/",
  };
  assertEquals(mapName(map, "@std/path"), "./src/std/path.ts");
  assertEquals(mapName(map, "zod/mini"), "zod/mini");
  assertEquals(mapName(map, "a/y.js"), "@b/a/y.js");
  assertEquals(mapName(map, "a/x/y.js"), "./x/y.js");
  assertEquals(mapName(map, "zod"), undefined);
  assertEquals(mapName(map, "@std/path/posix"), undefined);
});
