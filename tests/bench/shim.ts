import { basename, join } from "@std/path";
import type { InstalledPeers } from "./peers.ts";
import type { Candidate } from "./timing.ts";

/** Binds the folder that is named, if one is, and runs the component beside it. */
const RUNNER = `import { _setPreopens } from "@bytecodealliance/preview2-shim/filesystem";
const [folder] = Deno.args;
if (folder !== undefined) _setPreopens({ "/data": folder });
const { run } = await import("./component.js");
run.run();
`;

/**
 * `component` transpiled by jco and run by Deno on preview2-shim, with all permissions and no isolation; `mount` is a
 * host folder that it sees as `/data`.
 *
 * @throws Error when it cannot be transpiled
 */
export async function shimCandidate(
  { folder, node, jco }: InstalledPeers,
  { name, component, mount }: { readonly name: string; readonly component: string; readonly mount?: string },
): Promise<Candidate> {
  // Below the folder of the packages, where their names are known.
  const output = join(folder, "transpiled", basename(component, ".wasm"));
  const args = [jco, "transpile", component, "--name", "component", "--no-typescript", "--quiet", "-o", output];
  const { success, stderr } = await new Deno.Command(node, { args, stdin: "null", stdout: "null", stderr: "piped" })
    .output();
  if (!success) throw new Error(`Transpile ${component}: ${new TextDecoder().decode(stderr)}`);
  const runner = join(output, "run.js");
  Deno.writeTextFileSync(runner, RUNNER);
  return {
    name,
    program: Deno.execPath(),
    args: ["run", "--quiet", "--allow-all", "--no-lock", "--node-modules-dir=manual", runner, ...mount ? [mount] : []],
    env: { DENO_DIR: join(folder, "deno") },
  };
}
