/**
 * Gives each script of the executable the code that the engine makes of it, so that no start makes it again. An
 * executable of the same scripts that reports this code does the work of a user's first minute, twice: what a warm start
 * compiles is what counts.
 * @module
 */
import { join } from "@std/path";
import type { BaseBinary } from "./base_binary.ts";
import { compileFolder } from "./compile.ts";
import { decodePack, encodePack, packOf } from "./pack.ts";

/** One piece of work for the reporting executable, whose code of the scripts of `roles` is kept. */
export interface WarmUp {
  readonly args: readonly string[];
  readonly roles: readonly string[];
}

const REPORT = /^##(?:made|taken) (\S+) (\S+) (\S+)$/gm;

/** What {@link addCodeCaches} works on: folders. */
export interface CodeCacheOptions {
  /** Its packs get the code. */
  readonly folder: string;
  /** Holds the same packs, behind an entry that reports. */
  readonly reporting: string;
  /** The work may fill it. */
  readonly scratch: string;
  readonly warmUps: readonly WarmUp[];
  readonly base: BaseBinary;
}

/**
 * Adds code to packs.
 *
 * @throws Error when the work fails or a role has reported nothing.
 */
export async function addCodeCaches(
  { folder, reporting, scratch, warmUps, base }: CodeCacheOptions,
): Promise<void> {
  const program = join(scratch, "reports");
  await compileFolder(reporting, base, program);
  for (const { args, roles } of warmUps) {
    await work(program, args, scratch);
    const report = await work(program, args, scratch);
    for (const role of roles) addCode(join(folder, packOf(role)), role, report);
  }
}

async function work(program: string, args: readonly string[], scratch: string): Promise<string> {
  const { success, stderr } = await new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin", HOME: scratch, BOLL_HOME: join(scratch, "home"), XDG_RUNTIME_DIR: scratch },
    stdin: "null",
    stdout: "null",
  }).output();
  const text = new TextDecoder().decode(stderr);
  if (!success) throw new Error(`Warm up ${args.join(" ")}: it failed: ${text.replaceAll(REPORT, "").trim()}`);
  return text;
}

function addCode(path: string, role: string, report: string): void {
  const codes = new Map(
    [...report.matchAll(REPORT)].filter(([, of]) => of === `./${role}`).map(([, , name, code]) => [name!, code!]),
  );
  if (codes.size === 0) throw new Error(`Warm up ${role}: found no code of it, wanted some`);
  const scripts = decodePack(Deno.readFileSync(path));
  for (const [name, code] of codes) {
    scripts.set(name, { source: scripts.get(name)!.source, code: Uint8Array.fromBase64(code) });
  }
  Deno.writeFileSync(path, encodePack(scripts));
}
