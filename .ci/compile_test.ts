import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { findBaseBinary } from "./base_binary.ts";
import { compileFolder } from "./compile.ts";

const BASE_FOLDER = join(import.meta.dirname!, "..", ".build", "base");
const CATEGORIES = ["read", "write", "net", "env", "run", "ffi", "sys", "import"];

/** Says what it may do, and starts a worker, a lazy module and itself. */
const PROGRAM = {
  "main.js": `
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
        asset: Deno.readTextFileSync(new URL("./vendor/asset.bin.br", import.meta.url)),
        states: asked.map((name) => Deno.permissions.querySync({ name }).state),
      }));
      Deno.exit();
    }`,
  "lazy.js": `export const answer = "lazy";`,
  "worker.js":
    `try { Deno.readTextFileSync("/etc/hostname"); postMessage("read"); } catch (e) { postMessage(e.name); }`,
  "vendor/asset.bin.br": "asset",
};

async function compileProgram(folder: string): Promise<string> {
  Deno.mkdirSync(join(folder, "source", "vendor"), { recursive: true });
  for (const [path, text] of Object.entries(PROGRAM)) Deno.writeTextFileSync(join(folder, "source", path), text);
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
      asset: "asset",
      states: [...CATEGORIES.slice(0, -1).map(() => "granted"), "denied"],
    });
    assertEquals(await sha256(program), await sha256(twin));
  } finally {
    Deno.removeSync(first, { recursive: true });
    Deno.removeSync(second, { recursive: true });
  }
});

async function sha256(path: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", Deno.readFileSync(path))).toHex();
}
