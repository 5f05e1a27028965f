/**
 * `deno compile` of one folder, so that nothing but that folder decides what comes out.
 * @module
 */
import { dirname, join } from "@std/path";
import { insertAttic, packAttic } from "./attic.ts";
import type { BaseBinary } from "./base_binary.ts";

/**
 * Exactly what the executable may ever do; no argument or variable widens it. `import` is denied: it would be code
 * from elsewhere. `--quiet` is baked too: the runtime's own notices do not mix with a guest's stderr.
 */
export const COMPILE_FLAGS: readonly string[] = [
  ...["--quiet", "--no-config", "--no-lock", "--no-npm", "--no-remote", "--no-check", "--no-code-cache", "--no-prompt"],
  "--unstable-worker-options",
  // Two threads that compile meet at a lock, and the first one to wait there sleeps 3 ms to measure the clock. Room for
  // young objects, MiB: with the engine's 1 a start copies all it has made, two or three times, and drops none of it.
  "--v8-flags=--no-concurrent-sparkplug,--min-semi-space-size=4",
  ...["--allow-read", "--allow-write", "--allow-env", "--allow-run", "--allow-ffi", "--allow-net", "--allow-sys"],
  "--deny-import",
];

/**
 * Compiles `main.js` of the folder into the executable `output`, with every other script of it embedded and every other
 * file in its attic, whose index `main.js` sees as `BOLL_ATTIC`. The same files give the same bytes; the folder's own path does not matter. `flags` are the product's
 * own unless it is a program beside it.
 */
export async function compileFolder(
  folder: string,
  base: BaseBinary,
  output: string,
  flags: readonly string[] = COMPILE_FLAGS,
): Promise<void> {
  const files = listFiles(folder);
  const attic = files.filter((path) => !path.endsWith(".js"));
  if (attic.length === 0) return await compileScripts(folder, base, output, flags);
  const { bytes, index } = packAttic(new Map(attic.map((path) => [path, Deno.readFileSync(join(folder, path))])));
  const scripts = Deno.makeTempDirSync({ dir: dirname(output), prefix: ".scripts-" });
  try {
    for (const path of files) if (path.endsWith(".js")) Deno.copyFileSync(join(folder, path), join(scripts, path));
    const main = Deno.readTextFileSync(join(folder, "main.js"));
    Deno.writeTextFileSync(join(scripts, "main.js"), `const BOLL_ATTIC=${JSON.stringify(index)};${main}`);
    const bare = join(scripts, "bare");
    await compileScripts(scripts, base, bare, flags);
    const parts = insertAttic(Deno.readFileSync(bare), bytes);
    using file = Deno.openSync(output, { write: true, create: true, truncate: true, mode: 0o755 });
    for (const part of parts) for (let at = 0; at < part.length;) at += file.writeSync(part.subarray(at));
  } finally {
    Deno.removeSync(scripts, { recursive: true });
  }
}

async function compileScripts(
  folder: string,
  base: BaseBinary,
  output: string,
  flags: readonly string[],
): Promise<void> {
  const files = listFiles(folder);
  // The executable records when each embedded file was last changed.
  for (const path of files) Deno.utimeSync(join(folder, path), 0, 0);
  const env = Deno.env.toObject();
  delete env.DENORT_BIN;
  if (base.kind === "unofficial") env.DENORT_BIN = base.path;
  const includes = files.filter((path) => path !== "main.js").flatMap((path) => ["--include", path]);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["compile", ...flags, ...includes, "--output", output, "main.js"],
    cwd: folder,
    clearEnv: true,
    env,
    stdin: "null",
  }).output();
  if (!success) throw new Error(`deno compile failed:\n${new TextDecoder().decode(stderr)}`);
}

/** Paths of all files below `folder`, sorted. */
export function listFiles(folder: string, below = ""): string[] {
  return [...Deno.readDirSync(join(folder, below))].flatMap((entry) =>
    entry.isDirectory ? listFiles(folder, join(below, entry.name)) : [join(below, entry.name)]
  ).sort();
}
