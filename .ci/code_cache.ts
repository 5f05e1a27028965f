/**
 * Gives each script of the executable the code that the engine makes of it, so that no start makes it again. An
 * executable of the same scripts that reports this code does the work of a user's first minute, more than once: what a
 * warm start compiles is what counts.
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

/** How often a run is tried until two in a row compile the same. */
const MAX_TURNS = 10;

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
    const codes = await settledCodes(() => work(program, args, scratch), roles);
    for (const role of roles) addCode(join(folder, packOf(role)), role, codes.get(role)!);
  }
}

type Codes = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * The code of each role, as two runs in a row report it: now and then another thread is faster, and a function more is
 * compiled. The first run is not counted, since what it does only once is no warm start.
 */
async function settledCodes(run: () => Promise<string>, roles: readonly string[]): Promise<Codes> {
  await run();
  let last: string | undefined;
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const report = await run();
    const codes = new Map(roles.map((role) => [role, codesOf(report, role)]));
    const text = JSON.stringify([...codes].map(([role, code]) => [role, [...code].sort()]));
    if (text === last) return codes;
    last = text;
  }
  throw new Error(`Warm up ${roles.join(" and ")}: found no two runs in a row that compile the same`);
}

function codesOf(report: string, role: string): ReadonlyMap<string, string> {
  return new Map(
    [...report.matchAll(REPORT)].filter(([, of]) => of === `./${role}`).map(([, , name, code]) => [name!, code!]),
  );
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

function addCode(path: string, role: string, codes: ReadonlyMap<string, string>): void {
  if (codes.size === 0) throw new Error(`Warm up ${role}: found no code of it, wanted some`);
  const scripts = decodePack(Deno.readFileSync(path));
  for (const [name, code] of codes) {
    scripts.set(name, { source: scripts.get(name)!.source, code: Uint8Array.fromBase64(code) });
  }
  Deno.writeFileSync(path, encodePack(scripts));
}
