/**
 * Where an attempt is made: files that are granted beside files that are not, and boll started with a descriptor and a
 * variable that its guest must not see. Every run has files of its own, since an attempt that gets out changes them.
 * @module
 */
import { createHash } from "node:crypto";
import { join } from "@std/path";
import { type Bed, fixture, RunningBoll, type RunResult } from "../harness.ts";
import type { Attempt, GuestRoute, InjectedRoute, World } from "./attempt.ts";

/** Route → `"out"`, or what refused it; `twin` is the allowed twin, which must be `"out"`. */
export type Results = Readonly<Record<string, string>>;

/** What one run showed. */
export interface Observation {
  readonly results: Results;
  /** Paths outside what was granted for writing that are not as they were. */
  readonly changed: readonly string[];
  readonly run: RunResult;
}

/** Which executable, which of its walls stand (a variant only), and what is granted. */
export interface Stage {
  readonly bed: Bed;
  /** No folder is granted: then the guest has no thread of its own, and the cell's main thread gives up everything. */
  readonly withoutFolders?: true;
  readonly variant?: { readonly path: string; readonly walls: string };
}

/** Before the name of a route that is refused whatever stands. */
export const RUNTIME = "runtime.";

const SAFETY_NET_MS = 40_000;

/** Source that binds `libc` and `operations` for injected code. */
export const LIBC = `
    const libc = (name, ...values) => {
      const parameters = values.map((value) => typeof value === "number" ? "i64" : "buffer");
      const text = (value) => typeof value === "string" ? new TextEncoder().encode(value + "\\0") : value;
      const { symbols } = Deno.dlopen("libc.so.6", { [name]: { parameters, result: name === "getenv" ? "i64" : "i32" } });
      const result = Number(symbols[name](...values.map((value) =>
        typeof value === "number" ? BigInt(value) : text(value))));
      if (result === -1) throw new Error("libc " + name + " refused");
      return result;
    };
    const { ops: operations } = Deno[Deno.internal].core;`;

/** Tries all guest's routes of an attempt. */
export async function tryAsGuest(stage: Stage, attempt: Attempt): Promise<Observation> {
  const routes = sources({ ...attempt.guest, twin: attempt.guestTwin });
  const source = `
    const guest = { env, args, open, readFile, writeFile, appendFile, makeFolder, removeFolder, removeFile, rename,
      link, symlink, setTimes };
    const world = JSON.parse(args[0]);
    const judge = ({ ok, err }) => ok === true ? "out" : err === undefined ? "nothing" : JSON.stringify(err);
    return Object.fromEntries(Object.entries(${routes}).map(([name, route]) =>
      [name, judge(attempt(() => route(guest, world)))]));`;
  return await observe(stage, await fixture("probe"), (world) => [source, JSON.stringify(world)]);
}

/** Tries all routes that code in the guest's thread has. */
export async function tryInjected(stage: Stage, attempt: Attempt): Promise<Observation> {
  const refused = Object.entries(attempt.runtimeRefuses ?? {}).map(([name, route]) => [`${RUNTIME}${name}`, route]);
  const routes = sources({ ...attempt.injected, ...Object.fromEntries(refused), twin: attempt.injectedTwin });
  const source = (world: World) =>
    `//injected
    const world = ${JSON.stringify(world)};
    ${LIBC}
    const askForLink = (path, target) => ports.makeSymlink({ preopen: 0, path, target });
    const tools = { libc, operations, askForLink, env: load.env, cache: load.folders.cache, parent: Deno.ppid };
    const seen = {};
    for (const [name, route] of Object.entries(${routes})) {
      try { seen[name] = await route(tools, world) === true ? "out" : "nothing"; }
      catch (error) { seen[name] = String(error).split("\\n")[0].slice(0, 200); }
    }
    return seen;`;
  return await observe(stage, await fixture("ok"), (world) => [source(world)]);
}

function sources(routes: Readonly<Record<string, GuestRoute | InjectedRoute>>): string {
  return `{ ${Object.entries(routes).map(([name, route]) => `"${name}": ${route.toString()}`).join(",\n")} }`;
}

async function observe(stage: Stage, guest: string, words: (world: World) => string[]): Promise<Observation> {
  const world = makeWorld(stage.bed);
  const before = snapshot(world.outside);
  const folders = stage.withoutFolders ? [] : ["--mount", `${world.data}:/data:ro`, "--work", world.work];
  const flags = [...folders, "--env", "GRANTED=value", "--quiet"];
  const run = await start(stage, ["run", guest, ...flags, "--", ...words(world)], world);
  const results = parseResults(run);
  const after = snapshot(world.outside);
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter((path) =>
    before.get(path) !== after.get(path)
  );
  return { results, changed: changed.sort(), run };
}

/** Starts boll through a shell that has descriptor 9 open on a secret. */
async function start({ bed, variant }: Stage, words: string[], world: World): Promise<RunResult> {
  const [program, ...rest] = variant ? [variant.path, ...words] : bed.command(words);
  const walls = variant ? { BOLL_TEST_STANDING_WALLS: variant.walls } : {};
  const child = new Deno.Command("/bin/sh", {
    args: ["-c", 'exec 9<"$0"; exec "$@"', `${world.outside}/secret-9.txt`, program!, ...rest],
    cwd: world.outside,
    clearEnv: true,
    env: bed.environment({ ESCAPE_SECRET: "secret", ...walls }),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  return await new RunningBoll(child, { safetyNetMs: SAFETY_NET_MS }).result();
}

function parseResults(run: RunResult): Results {
  const line = run.stdout.trimEnd().split("\n").at(-1) ?? "";
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`Read what an attempt saw: found no JSON (exit ${run.code})\n${run.stdout}\n${run.stderr}`);
  }
}

function makeWorld(bed: Bed): World {
  const name = crypto.randomUUID();
  const secrets = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`secret-${at}.txt`, "secret"]));
  const victims = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`data/f${at}`, "granted"]));
  const outside = bed.folder(`${name}/outside`, {
    ...secrets,
    "secret.json": '{"secret":true}',
    "secret.js": 'export const secret = true;\nif (globalThis.postMessage) postMessage("secret");\n',
    "data/a.txt": "granted",
    "data/deep/b.txt": "granted",
    "data/granted.json": '{"granted":true}',
    ...victims,
  });
  const work = bed.folder(`${name}/work`, { "own.txt": "own", "own-1.txt": "own", "own-2.txt": "own" });
  Deno.mkdirSync(`${outside}/data/empty`);
  for (const [path, target] of Object.entries(plantedLinks(outside))) Deno.symlinkSync(target, join(outside, path));
  return { outside, data: `${outside}/data`, work, system: systemFile(), home: bed.home };
}

function plantedLinks(outside: string): Record<string, string> {
  return {
    "data/inside": "deep/../a.txt",
    "data/self": ".",
    "data/to-secret": "../secret-0.txt",
    "data/to-secret-absolute": `${outside}/secret-0.txt`,
    "data/up": "..",
    "data/chain": "self/deep/../to-secret",
    "data/to-root": "/proc/self/root",
    "data/to-cwd": "/proc/self/cwd",
    "data/to-fd": "/proc/self/fd",
    "data/to-init": "/proc/1",
    "../work/to-secret": "../outside/secret-8.txt",
    "../work/to-data": "../outside/data",
  };
}

/** A wall that fails must be seen to fail, so it is a file that the user who runs the tests may read. */
function systemFile(): string {
  try {
    Deno.readFileSync("/etc/shadow");
    return "/etc/shadow";
  } catch {
    return "/etc/passwd";
  }
}

/** Path → everything about it that an attempt could change. */
function snapshot(folder: string, below = "", seen = new Map<string, string>()): Map<string, string> {
  for (const { name } of Deno.readDirSync(join(folder, below))) {
    const path = join(below, name);
    const info = Deno.lstatSync(join(folder, path));
    const content = info.isFile ? createHash("sha256").update(Deno.readFileSync(join(folder, path))).digest("hex") : "";
    const target = info.isSymlink ? Deno.readLinkSync(join(folder, path)) : "";
    seen.set(path, [info.mode, info.nlink, info.mtime?.getTime(), content, target].join(" "));
    if (info.isDirectory) snapshot(folder, path, seen);
  }
  return seen;
}
