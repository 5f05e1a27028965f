/**
 * Gives each script of the executable the code that the engine makes of it, so that no start makes it again. An
 * executable of the same scripts that reports this code does the work of a user's first minute, more than once: what a
 * warm start compiles is what counts.
 * @module
 */
import { join } from "@std/path";
import type { BaseBinary } from "./base_binary.ts";
import { compileFolder } from "./compile.ts";
import { decodePack, encodePack, packOf, type ScriptParts } from "./pack.ts";

/** One piece of work for the reporting executable, whose code of the scripts of `roles` is kept where there is none yet. */
export interface WarmUp {
  readonly args: readonly string[];
  readonly roles: readonly string[];
}

/** How often a run is tried until two in a row compile the same. */
const MAX_TURNS = 12;

/** Role, script, process, number of the piece, number of pieces, piece. */
const REPORT = /^##(?:made|taken) (\S+) (\S+) (\d+) (\d+)\/(\d+) (\S+)$/gm;

/** What {@link addCodeCaches} works on: folders. */
export interface CodeCacheOptions {
  /** Its packs get the code. */
  readonly folder: string;
  /** Holds the same packs, behind an entry that reports. */
  readonly reporting: string;
  /** The work may fill it. */
  readonly scratch: string;
  /** A script has the code of the first one that runs it. */
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
    const packs = new Map(roles.map((role) => [role, decodePack(Deno.readFileSync(join(folder, packOf(role))))]));
    for (const [role, code] of await settledCodes(() => work(program, args, scratch), packs)) {
      const pack = packs.get(role)!;
      for (const [name, text] of code) pack.set(name, { ...pack.get(name)!, code: Uint8Array.fromBase64(text) });
      Deno.writeFileSync(join(folder, packOf(role)), encodePack(pack));
    }
  }
}

type Pack = Map<string, ScriptParts>;
type Codes = ReadonlyMap<string, string>;

/**
 * The code of each role's scripts that have none, as two runs in a row report it: now and then another thread is faster,
 * and a function more is compiled. The first run is not counted, since what it does only once is no warm start.
 */
async function settledCodes(run: () => Promise<string>, packs: ReadonlyMap<string, Pack>): Promise<Map<string, Codes>> {
  await run();
  const [settled, last] = [new Map<string, Codes>(), new Map<string, string>()];
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const report = await run();
    for (const [role, pack] of packs) {
      const code = codesOf(report, role, pack);
      const text = JSON.stringify([...code].sort());
      if (text === last.get(role)) settled.set(role, settled.get(role) ?? code);
      last.set(role, text);
    }
    if (settled.size === packs.size) break;
  }
  for (const role of packs.keys()) {
    const code = settled.get(role);
    if (code === undefined) throw new Error(`Warm up ${role}: found no two runs in a row that compile the same`);
    if (code.size === 0) throw new Error(`Warm up ${role}: found no code of it, wanted some`);
  }
  return settled;
}

/** Of a script that several processes report, the most. */
function codesOf(report: string, role: string, pack: Pack): Codes {
  const codes = new Map<string, string>();
  const pieces = new Map<string, string[]>();
  for (const [, of, name = "", pid, at, count, piece = ""] of report.matchAll(REPORT)) {
    if (of !== `./${role}` || pack.get(name)?.code !== undefined) continue;
    const key = `${name} ${pid}`;
    if (at === "1") pieces.set(key, []);
    pieces.get(key)?.push(piece);
    if (at !== count) continue;
    const code = pieces.get(key)!.join("");
    if (code.length > (codes.get(name)?.length ?? 0)) codes.set(name, code);
  }
  return codes;
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
