/**
 * The bed of every test that crosses rooms: boll as a person starts it, from source and as the executable, with a home
 * of its own that is gone afterwards.
 *
 * `forEachMode("run: what must hold", async (bed) => { … })` registers one test for each mode, `forExecutable` one for the
 * executable. A test never waits for a clock: the time limit is a net that fails it.
 * @module
 */
import { join } from "@std/path";
import { fixture } from "./fixtures/fixture.ts";
import { warmGuest } from "./warm_cache.ts";
import { collect, RunningBoll, type RunOptions, type RunResult } from "./running_boll.ts";

export { fixture } from "./fixtures/fixture.ts";
export { RunningBoll, type RunOptions, type RunResult } from "./running_boll.ts";

/** `source` is `deno run main.ts`; `binary` is `dist/boll`, or the executable that `BOLL_BIN` names. */
export type Mode = "source" | "binary";

/** Both ways that boll is started. */
export const MODES: readonly Mode[] = ["source", "binary"];

/** The folder of the repository. */
export const REPOSITORY: string = join(import.meta.dirname!, "..");

/** One event of a trace. */
export interface TraceEvent extends Record<string, unknown> {
  event: string;
  ts: number;
  session_id: string;
}

/** Options of {@link Bed.probe}. */
export interface ProbeOptions extends RunOptions {
  /** Options of `boll run`, such as `["--mount", "/srv:/data:ro"]`. */
  flags?: readonly string[];
  /** What the source sees as `args`. */
  args?: readonly string[];
}

/** How a probe ended; `value` is the JSON it printed last, undefined when it printed none. */
export interface ProbeResult extends RunResult {
  value: unknown;
}

/** Registers `body` once for each mode, in a new bed each time. */
export function forEachMode(name: string, body: (bed: Bed) => Promise<void>): void {
  for (const mode of MODES) forMode(mode, name, body);
}

/**
 * Registers `body` for the executable, and from source too where `BOLL_TEST_MODES` is `all`: for tests of whole
 * processes, which cost much, and whose subject only the executable has whole.
 */
export function forExecutable(name: string, body: (bed: Bed) => Promise<void>): void {
  for (const mode of Deno.env.get("BOLL_TEST_MODES") === "all" ? MODES : ["binary"] as const) forMode(mode, name, body);
}

/** Registers `body` for one mode only: wall tests need the executable. */
export function forMode(mode: Mode, name: string, body: (bed: Bed) => Promise<void>): void {
  Deno.test(`${name} [${mode}]`, async () => {
    await using bed = new Bed(mode);
    try {
      await body(bed);
    } catch (error) {
      // What it started must neither outlive it nor be its second failure.
      await bed.abandon();
      throw error;
    }
  });
}

/** A home, a runtime folder and scratch space for one test, and boll started in them. */
export class Bed implements AsyncDisposable {
  readonly mode: Mode;
  /** The real path of the folder that holds everything of this test. */
  readonly root: string;
  /** `BOLL_HOME` of every run. */
  readonly home: string;
  readonly #command: readonly string[];
  readonly #started: RunningBoll[] = [];

  /** @throws Error if the executable is not there */
  constructor(mode: Mode) {
    this.mode = mode;
    this.#command = commandOf(mode);
    this.root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "boll-test-" }));
    this.home = join(this.root, "home");
    for (const name of ["run", "user", "files"]) Deno.mkdirSync(join(this.root, name), { mode: 0o700 });
  }

  /** Program and arguments that start boll with `args`: for shells and terminals. */
  command(args: readonly string[]): string[] {
    return [...this.#command, ...args];
  }

  /** The whole environment of a run; `extra` is added. */
  environment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: join(this.root, "user"),
      BOLL_HOME: this.home,
      XDG_RUNTIME_DIR: join(this.root, "run"),
      LANG: "C.UTF-8",
      NO_COLOR: "1",
      ...(this.mode === "source" ? sourceEnvironment() : {}),
      ...extra,
    };
  }

  /** Makes a folder of the given name below the bed, with these files in it, and gives its path. */
  folder(name: string, files: Readonly<Record<string, string>> = {}): string {
    const folder = join(this.root, "files", name);
    Deno.mkdirSync(folder, { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      Deno.mkdirSync(join(folder, path, ".."), { recursive: true });
      Deno.writeTextFileSync(join(folder, path), text);
    }
    return folder;
  }

  /** Starts boll and comes back at once. */
  start(args: readonly string[], options: RunOptions = {}): RunningBoll {
    return this.startCommand(this.command(args), options);
  }

  /** Starts any program as boll is started here: the whole command line is given. */
  startCommand(command: readonly string[], options: RunOptions = {}): RunningBoll {
    const [program, ...rest] = command;
    const child = new Deno.Command(program ?? "", {
      args: rest,
      cwd: options.cwd ?? this.root,
      clearEnv: true,
      env: this.environment(options.env),
      stdin: options.stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const running = new RunningBoll(child, options);
    this.#started.push(running);
    return running;
  }

  /** Ends every run that this bed started. */
  async abandon(): Promise<void> {
    await Promise.all(this.#started.map((running) => running.abandon()));
  }

  /** Runs boll to its end. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    return await collect(this.start(args, options));
  }

  /** Runs the guest `name` of `tests/fixtures` to its end; `flags` are options of `boll run`. */
  async guest(name: string, flags: readonly string[] = [], options: RunOptions = {}): Promise<RunResult> {
    return await this.run(["run", await fixture(name), ...flags], options);
  }

  /** Evaluates JavaScript in the probe guest, with what `flags` grant. */
  async probe(source: string, options: ProbeOptions = {}): Promise<ProbeResult> {
    const { flags = [], args = [], ...rest } = options;
    const result = await this.run(["run", await warmGuest(this, "probe"), ...flags, "--", source, ...args], rest);
    return { ...result, value: parseLastLine(result.stdout) };
  }

  /** The folders of this home's sessions, oldest first. */
  sessions(): string[] {
    const folder = join(this.home, "sessions");
    return [...Deno.readDirSync(folder)].map((entry) => join(folder, entry.name)).sort();
  }

  /** The trace of the newest session. */
  trace(): TraceEvent[] {
    const session = this.sessions().at(-1);
    if (session === undefined) throw new Error(`Read trace: no session in ${this.home}`);
    const text = Deno.readTextFileSync(join(session, "records", "trace.jsonl"));
    return text.trimEnd().split("\n").map((line) => JSON.parse(line));
  }

  /** Removes everything of this test. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}

function parseLastLine(text: string): unknown {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function commandOf(mode: Mode): string[] {
  return mode === "binary" ? [executable()] : sourceCommand(REPOSITORY);
}

/** What starts boll from the source at `root`: exactly what the `boll` task of its `deno.json` says. */
export function sourceCommand(root: string): string[] {
  const configuration = JSON.parse(Deno.readTextFileSync(join(root, "deno.json")));
  const [, ...words] = String(configuration.tasks.boll).split(" ");
  return [Deno.execPath(), ...words.map((word) => (word === "main.ts" ? join(root, word) : word))];
}

function executable(): string {
  const path = Deno.env.get("BOLL_BIN") ?? join(REPOSITORY, "dist", "boll");
  try {
    Deno.statSync(path);
  } catch {
    throw new Error(`Start boll: no executable at ${path}: run \`make build\` first`);
  }
  return path;
}

/** What a run from source needs in its environment beside what every run gets. */
export function sourceEnvironment(): Record<string, string> {
  return { DENO_DIR: denoFolder(), DENO_NO_UPDATE_CHECK: "1" };
}

/** Deno's cache: a run has another HOME, so it must be told. */
function denoFolder(): string {
  const { DENO_DIR, XDG_CACHE_HOME, HOME } = Deno.env.toObject();
  return DENO_DIR ?? join(XDG_CACHE_HOME ?? join(HOME ?? "/", ".cache"), "deno");
}
