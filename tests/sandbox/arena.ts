/**
 * Where attempts are made: files that are granted beside files that are not, and boll started with descriptors and a
 * variable that its guest must not see. Every attempt of a run has files of its own, since one that gets out changes
 * them; they share the run.
 * @module
 */
import { basename, join } from "@std/path";
import { type Bed, fixture, RunningBoll, type RunResult } from "../harness.ts";
import { OutputReader } from "../running_boll.ts";
import { makeWorld, snapshot } from "./arena_world.ts";
import type { Attempt, GuestRoute, InjectedRoute, World } from "./attempt.ts";
import { LIBC } from "./libc_source.ts";
import { ESCAPES } from "./table.ts";

/** Route → `"out"`, or what refused it; `twin` is the allowed twin, which must be `"out"`. */
export type Results = Readonly<Record<string, string>>;

/** What one attempt saw in one run. */
export interface Observation {
  readonly results: Results;
  /** Paths outside what was granted for writing that are not as they were. */
  readonly changed: readonly string[];
}

/** Which executable, which of its walls stand (a variant only), what is granted, and who runs it. */
export interface Stage {
  readonly bed: Bed;
  /** No folder is granted: then the guest has no thread of its own, and the cell's main thread gives up everything. */
  readonly withoutFolders?: true;
  readonly variant?: { readonly path: string; readonly walls: string };
  /** Run by the user nobody, who must own the bed; only root can do that. */
  readonly asNobody?: true;
  /** How often an attempt is made that depends on the moment; default {@link FEW_ROUNDS}. */
  readonly rounds?: number;
  /** Its rounds may all be needed, since a wall is to hold. */
  readonly isHeld?: boolean;
}

/** Before the name of a route that is refused whatever stands. */
export const RUNTIME = "runtime.";
/** Before the name of a route that only root has. */
export const ROOT = "root.";
/** Before the name of a route that some hosts leave to nobody. */
export const HOST = "host.";

const FEW_ROUNDS = 1000;
/** For what succeeds as soon as the other process had its turn: seconds of trying, on a loaded machine too. */
export const PATIENT_ROUNDS = 100_000;
/** For few rounds, of which a guest's on a loaded machine take up to 100 ms each; many have as much more. */
const SAFETY_NET_MS = 300_000;
const NOBODY = 65534;

/** How a program is started as nobody, without a group or a capability. */
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] as const;

function often(rounds: number): string {
  return `
    const tryFor = (rounds, attempt) => {
      for (let round = 0; round < rounds; round++) {
        try { if (attempt(round) === true) return true; } catch { /* refused in this round */ }
      }
      return false;
    };
    const often = (attempt) => tryFor(${rounds}, attempt);
    const eventually = (attempt) => tryFor(${PATIENT_ROUNDS}, attempt);`;
}

/** Tries all guest's routes of each attempt. */
export async function tryAsGuest(stage: Stage, attempts: readonly Attempt[]): Promise<Observation[]> {
  const routes = attempts.map(({ guest, guestTwin }) => sources({ ...guest, twin: guestTwin }));
  // Each attempt says /data and /workdir, and has its own.
  const source = `${often(stage.rounds ?? FEW_ROUNDS)}
    const worlds = JSON.parse(args[0]);
    const names = ${namesOf(attempts)};
    const judge = ({ ok, err }) => ok === true ? "out" : err === undefined ? "nothing" : JSON.stringify(err);
    return [${routes.join(",\n")}].map((routes, number) => {
      const at = (path) => "/" + number + path;
      const guest = {
        often,
        eventually,
        withFile: (path, options, act) => {
          const file = open(at(path), options);
          try { return act(file); } finally { file[Symbol.dispose](); }
        },
        env,
        args,
        open: (path, options) => open(at(path), options),
        readFile: (path) => readFile(at(path)),
        writeFile: (path, text) => writeFile(at(path), text),
        appendFile: (path, text) => appendFile(at(path), text),
        makeFolder: (path) => makeFolder(at(path)),
        removeFolder: (path) => removeFolder(at(path)),
        removeFile: (path) => removeFile(at(path)),
        rename: (from, to) => rename(at(from), at(to)),
        link: (from, to) => link(at(from), at(to)),
        symlink: (target, path) => symlink(target, at(path)),
        setTimes: (path, access, modification) => setTimes(at(path), access, modification),
      };
      return Object.fromEntries(Object.entries(routes).map(([name, route]) => {
        printError(names[number] + ": " + name);
        return [name, judge(attempt(() => route(guest, worlds[number])))];
      }));
    });`;
  return await observe(stage, await fixture("probe"), attempts, (worlds) => [source, JSON.stringify(worlds)]);
}

/** Tries all routes of each attempt that code in the guest's thread has. */
export async function tryInjected(stage: Stage, attempts: readonly Attempt[]): Promise<Observation[]> {
  const routes = attempts.map(({ injected, asRoot, byHost, runtimeRefuses, injectedTwin }) =>
    sources({
      ...injected,
      ...prefixed(ROOT, asRoot),
      ...prefixed(HOST, byHost),
      ...prefixed(RUNTIME, runtimeRefuses),
      twin: injectedTwin,
    })
  );
  const source = (worlds: readonly World[]) =>
    `//injected
    const worlds = ${JSON.stringify(worlds)};
    const names = ${namesOf(attempts)};
    ${LIBC}
    ${often(stage.rounds ?? FEW_ROUNDS)}
    const { mounts } = load.grants.fs;
    const seen = [];
    for (const [at, routes] of [${routes.join(",\n")}].entries()) {
      const world = worlds[at];
      const preopen = mounts.findIndex(({ host }) => host === world.work);
      const askForLink = (path, target) => ports.makeSymlink({ preopen, path, target });
      const tools = { often, eventually, libc, kernel, reaches, addressOf, operations, askForLink, env: load.env,
        cache: load.folders.cache, parent: Deno.ppid };
      const results = {};
      for (const [name, route] of Object.entries(routes)) {
        Deno.stderr.writeSync(new TextEncoder().encode(names[at] + ": " + name + "\\n"));
        try { results[name] = await route(tools, world) === true ? "out" : "nothing"; }
        catch (error) { results[name] = String(error).split("\\n")[0].slice(0, 200); }
      }
      seen.push(results);
    }
    return seen;`;
  return await observe(stage, await fixture("ok"), attempts, (worlds) => inPieces(source(worlds)));
}

/** What the table calls each attempt: said on stderr when a route begins, so that one that never ends has a name. */
function namesOf(attempts: readonly Attempt[]): string {
  return JSON.stringify(attempts.map((own) => ESCAPES.find(({ attempt }) => attempt === own)?.name ?? "an attempt"));
}

/** Linux takes no single argument above 128 KiB; the variant puts the pieces together. */
function inPieces(source: string): string[] {
  return source.match(/[^]{1,60000}/g) ?? [];
}

function prefixed<Route>(prefix: string, routes: Readonly<Record<string, Route>> = {}): Record<string, Route> {
  return Object.fromEntries(Object.entries(routes).map(([name, route]) => [prefix + name, route]));
}

function sources(routes: Readonly<Record<string, GuestRoute | InjectedRoute>>): string {
  return `{ ${Object.entries(routes).map(([name, route]) => `"${name}": ${route.toString()}`).join(",\n")} }`;
}

async function observe(
  stage: Stage,
  guest: string,
  attempts: readonly Attempt[],
  words: (worlds: readonly World[]) => string[],
): Promise<Observation[]> {
  const bystander = new Deno.Command("sleep", { args: [`${2 * safetyNetMs(stage) / 1000}`], ...userOf(stage) }).spawn();
  try {
    const worlds = attempts.map(() => makeWorld(stage.bed, bystander.pid, stage.asNobody === true));
    const caller = stage.bed.folder(crypto.randomUUID(), { "9.txt": "secret", "7.txt": "caller" });
    if (stage.asNobody) give(stage.bed); // before any name is swapped
    const before = worlds.map(({ outside }) => snapshot(outside));
    const folders = worlds.flatMap(({ data, work }, at) => [
      ...["--mount", `${data}:/${at}/data:ro`],
      ...["--mount", `${work}:/${at}/workdir:rw`],
    ]);
    // An attempt starts a thread of its own, which wants half a gigabyte of what its process may have.
    const limits = ["--memory", "2g", "--deadline", `${safetyNetMs(stage)}ms`];
    const flags = [...(stage.withoutFolders ? [] : folders), "--env", "GRANTED=value", ...limits, "--quiet"];
    await using _swapper = await startSwapper(worlds.filter((_, at) => attempts[at]!.isSwapped));
    const run = await start(stage, ["run", guest, ...flags, "--", ...words(worlds)], worlds[0]!, caller);
    const results = parseResults(run);
    return worlds.map(({ outside }, at) => ({
      results: results[at]!,
      changed: differences(before[at]!, snapshot(outside)),
    }));
  } finally {
    bystander.kill("SIGKILL");
    await bystander.status;
  }
}

/** Swaps names of these worlds until it is disposed of. */
async function startSwapper(worlds: readonly World[]): Promise<AsyncDisposable | undefined> {
  if (worlds.length === 0) return undefined;
  const pairs = worlds.flatMap(({ work }) => [
    ...[`${work}/swapped-file`, `${work}/swapped-link`],
    ...[`${work}/swapped-folder`, `${work}/swapped-folder-link`],
  ]);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-ffi", "--no-check", join(import.meta.dirname!, "swapper.ts"), ...pairs],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const output = new OutputReader(child.stdout);
  await output.waitFor("up");
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await Promise.all([child.status, output.toEnd()]);
    },
  };
}

/** The executable, or a copy of it where nobody may not come to it: a checkout in the home of root. */
function forNobody(bed: Bed, executable: string): string {
  const [setpriv, ...user] = AS_NOBODY;
  if (new Deno.Command(setpriv, { args: [...user, "test", "-x", executable] }).outputSync().success) return executable;
  const copy = join(bed.folder("bin"), basename(executable));
  try {
    Deno.lstatSync(copy);
  } catch {
    Deno.copyFileSync(executable, copy);
  }
  return copy;
}

function userOf({ asNobody }: Stage): { uid?: number; gid?: number } {
  return asNobody ? { uid: NOBODY, gid: NOBODY } : {};
}

/** Makes everything of the bed nobody's. */
function give(bed: Bed): void {
  new Deno.Command("chown", { args: ["-hR", `${NOBODY}:${NOBODY}`, bed.root] }).outputSync();
}

function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}

/** Starts boll through a shell that has descriptor 9 open on a secret, and 7 on a file to write to. */
async function start(
  stage: Stage,
  words: string[],
  world: World,
  caller: string,
): Promise<RunResult> {
  const { bed, variant, asNobody } = stage;
  const [executable = "", ...rest] = variant ? [variant.path, ...words] : bed.command(words);
  const command = [asNobody ? forNobody(bed, executable) : executable, ...rest];
  const walls = variant ? { BOLL_TEST_STANDING_WALLS: variant.walls } : {};
  const [program, ...args] = [
    ...(asNobody ? AS_NOBODY : []),
    ...["/bin/sh", "-c", 'exec 9<"$0/9.txt" 7<>"$0/7.txt"; exec "$@"', caller, ...command],
  ];
  const child = new Deno.Command(program!, {
    args,
    cwd: world.outside,
    clearEnv: true,
    env: bed.environment({ ESCAPE_SECRET: "secret", ...walls }),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  return await new RunningBoll(child, { safetyNetMs: safetyNetMs(stage) }).result();
}

function safetyNetMs({ rounds = FEW_ROUNDS, isHeld = true }: Stage): number {
  return SAFETY_NET_MS * (isHeld ? Math.max(1, rounds / FEW_ROUNDS) : 1);
}

function parseResults(run: RunResult): Results[] {
  const line = run.stdout.trimEnd().split("\n").at(-1) ?? "";
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`Read what attempts saw: found no JSON (exit ${run.code})\n${run.stdout}\n${run.stderr}`);
  }
}
