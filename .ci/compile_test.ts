import { assertEquals, assertMatch } from "@std/assert";
import { initialize, transform } from "esbuild";
import { join } from "@std/path";
import { findBaseBinary } from "./base_binary.ts";
import { compileFolder } from "./compile.ts";

// The bundler's own process serves all tests of this file, so that it is no leak of one of them.
await initialize({});

const BASE_FOLDER = join(import.meta.dirname!, "..", ".build", "base");
const CATEGORIES = ["read", "write", "net", "env", "run", "ffi", "sys", "import"];

/** Says what it may do, and starts a worker, a lazy module and itself. */
const PROGRAM = {
  "main.js": `
    import { Attic } from "./attic_reader.js";
    const attic = Attic.open(Deno.env.get("OTHER") ?? Deno.execPath(), BOLL_ATTIC);
    const asset = (part) => new TextDecoder().decode(attic.read("vendor/asset.bin.br", part));
    const asked = ${JSON.stringify(CATEGORIES)};
    if (Deno.env.get("ROLE") === "child") console.log((await import("./lazy.js")).answer);
    else {
      const { stdout } = await new Deno.Command(Deno.execPath(), { clearEnv: true, env: { ROLE: "child" } }).output();
      const options = { type: "module", deno: { permissions: { read: ["/nowhere"] } } };
      const worker = new Worker(new URL("./worker.js", import.meta.url), options);
      const said = await new Promise((resolve) => worker.onmessage = ({ data }) => resolve(data));
      console.log(JSON.stringify({
        child: new TextDecoder().decode(stdout).trim(),
        worker: said,
        asset: [asset(), asset([1, 3])],
        states: asked.map((name) => Deno.permissions.querySync({ name }).state),
      }));
      Deno.exit();
    }`,
  "lazy.js": `export const answer = "lazy";`,
  "worker.js":
    `try { Deno.readTextFileSync("/etc/hostname"); postMessage("read"); } catch (e) { postMessage(e.name); }`,
  "vendor/asset.bin.br": "asset",
  "a.pack": "another",
};

async function compileProgram(folder: string, changed: Partial<typeof PROGRAM> = {}): Promise<string> {
  Deno.mkdirSync(join(folder, "source", "vendor"), { recursive: true });
  const reader = await transform(Deno.readTextFileSync(join(import.meta.dirname!, "attic_reader.ts")), {
    loader: "ts",
  });
  const files = { ...PROGRAM, ...changed, "attic_reader.js": reader.code };
  for (const [path, text] of Object.entries(files)) Deno.writeTextFileSync(join(folder, "source", path), text);
  const output = join(folder, "program");
  await compileFolder(join(folder, "source"), await findBaseBinary(BASE_FOLDER), output);
  return output;
}

Deno.test("compileFolder gives the same bytes from any folder, and a program with exactly the baked permissions", async () => {
  const [first, second] = [Deno.makeTempDirSync(), Deno.makeTempDirSync({ suffix: "-a-longer-name" })];
  try {
    const [program, twin] = [await compileProgram(first), await compileProgram(second)];
    const { stdout } = await new Deno.Command(program, { stdin: "null", stderr: "inherit" }).output();
    assertEquals(JSON.parse(new TextDecoder().decode(stdout)), {
      child: "lazy",
      worker: "NotCapable",
      asset: ["asset", "sse"],
      states: [...CATEGORIES.slice(0, -1).map(() => "granted"), "denied"],
    });
    assertEquals(await sha256(program), await sha256(twin));
  } finally {
    Deno.removeSync(first, { recursive: true });
    Deno.removeSync(second, { recursive: true });
  }
});

Deno.test("Attic: a program finds its own attic alone, not that of an executable that took the place of its own", async () => {
  const [first, second] = [Deno.makeTempDirSync(), Deno.makeTempDirSync()];
  try {
    const program = await compileProgram(first);
    const other = await compileProgram(second, { "vendor/asset.bin.br": "tessa" });
    const run = async (env: Record<string, string>) => {
      const { code, stderr } = await new Deno.Command(program, { clearEnv: true, env, stdin: "null" }).output();
      return { code, stderr: new TextDecoder().decode(stderr) };
    };
    assertEquals(await run({ ROLE: "child" }), { code: 0, stderr: "" });
    const refused = await run({ ROLE: "child", OTHER: other });
    assertEquals(refused.code, 1);
    assertMatch(refused.stderr, /found another executable there than the one that runs; start it again/);
  } finally {
    Deno.removeSync(first, { recursive: true });
    Deno.removeSync(second, { recursive: true });
  }
});

async function sha256(path: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", Deno.readFileSync(path))).toHex();
}
