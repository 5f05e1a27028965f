import { assert, assertEquals, assertRejects } from "@std/assert";
import { initialize } from "esbuild";
import { join } from "@std/path";
import { findBaseBinary } from "./base_binary.ts";
import { bundleRoles } from "./bundle.ts";
import { addCodeCaches } from "./code_cache.ts";
import { compileFolder } from "./compile.ts";
import { decodePack, packRoles } from "./pack.ts";
import { ROLES } from "./rooms.ts";

// The bundler's own process serves all tests of this file, so that it is no leak of one of them.
await initialize({});

const BASE_FOLDER = join(import.meta.dirname!, "..", ".build", "base");
const SOURCES: Record<string, string> = {
  "deno.json": "{}",
  "main.ts": `const { main } = await import("./src/cli/main.ts"); Deno.exit(await main(Deno.args));`,
  "src/cli/main.ts": `import { used, unused } from "./both.ts";
    export const main = async ([verb]) => verb === "run" ? used() : verb === "lazy" ? (await import("./lazy.ts")).lazy() : unused();`,
  "src/cli/both.ts": `export const used = () => 0; export const unused = () => 3;`,
  "src/cli/lazy.ts": `export const lazy = () => 4;`,
};

/** A checkout of one role; `layOut` makes what goes into its executable. */
function checkout(root: string): (name: string, reports: string) => Promise<string> {
  const sources = { ...Object.fromEntries(Object.keys(ROLES).map((entry) => [entry, "export {};"])), ...SOURCES };
  for (const [path, text] of Object.entries(sources)) {
    Deno.mkdirSync(join(root, path).replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(join(root, path), text);
  }
  return async (name, reports) => {
    const define = { REPORTS_CODE: reports };
    await packRoles(join(root, name), await bundleRoles({ root, outputFolder: join(root, name), define }), define);
    return join(root, name);
  };
}

async function codeOf(program: string, args: string[]): Promise<{ code: number; stderr: string }> {
  const { code, stderr } = await new Deno.Command(program, { args, clearEnv: true, stdin: "null" }).output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}

Deno.test("addCodeCaches: the scripts that ran get code, which an executable compiled anew takes; work that fails is told", async () => {
  const root = Deno.makeTempDirSync({ prefix: "boll-code-" });
  try {
    const layOut = checkout(root);
    const base = await findBaseBinary(BASE_FOLDER);
    const [folder, reporting] = [await layOut("product", ""), await layOut("reporting", "yes")];
    const options = { folder, reporting, scratch: root, base };
    const warmUps = [{ args: ["run"], roles: ["cli.js"] }];
    await addCodeCaches({ ...options, warmUps });
    const scripts = decodePack(Deno.readFileSync(join(folder, "cli.pack")));
    const lazy = [...scripts.keys()].find((name) => name.startsWith("./lazy-"))!;
    assert(scripts.get("./cli.js")!.code !== undefined);
    assertEquals(scripts.get(lazy)!.code, undefined);

    Deno.copyFileSync(join(folder, "cli.pack"), join(reporting, "cli.pack"));
    await compileFolder(reporting, base, join(root, "again"));
    const { code, stderr } = await codeOf(join(root, "again"), ["lazy"]);
    assertEquals(code, 4);
    const told = [...stderr.matchAll(/^##(\w+) \S+ (\S+)/gm)].map(([, how, name]) => [name, how]);
    assertEquals(Object.fromEntries(told), { "./cli.js": "taken", [lazy]: "made" });

    await assertRejects(
      () => addCodeCaches({ ...options, warmUps: [{ args: ["no"], roles: ["cli.js"] }] }),
      Error,
      "failed",
    );
    const silent = [{ args: ["run"], roles: ["cell.js"] }];
    await assertRejects(() => addCodeCaches({ ...options, warmUps: silent }), Error, "found no code of it");
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
