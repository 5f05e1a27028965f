/**
 * A guest that delegates, in a real cell whose parent is the test: what it asks for is answered by a script.
 */
import { hashBytes } from "../../src/component/hash.ts";
import type { CachedComponent } from "../../src/component/mod.ts";
import { type Grants, NO_GRANTS } from "../../src/grants/mod.ts";
import type { DelegateCall, DelegateRefusal, DelegateStarted } from "../../src/protocol/mod.ts";
import { createSession, openHome, TraceWriter } from "../../src/records/mod.ts";
import { type Delegator, ensureComponent, type Outcome } from "../../src/session/mod.ts";
import { runCell } from "../../src/session/cell/run_cell.ts";
import { type CapturedCell, type CellLaunch, type CellProcess, spawnCapturedCell } from "../../src/supervisor/mod.ts";
import { type Bed, fixture } from "../harness.ts";

/** What differs from a run whose guest has streams, clocks, random numbers, and a capsule to delegate to. */
export interface DelegatingOptions {
  readonly delegator?: Delegator;
  readonly grants?: Partial<Grants>;
  readonly interrupt?: AbortSignal;
  /** What the guest reads; default nothing. */
  readonly input?: ReadableStream<Uint8Array>;
  /** Sees the cell before it is told anything. */
  onCell?(cell: CellProcess): void;
}

/** How it ended; `value` is the JSON that the guest printed last. */
export interface DelegatingResult {
  readonly outcome: Outcome;
  readonly stdout: string;
  readonly stderr: string;
  readonly value: unknown;
}

/** Grants for each place of the guest's thread: its own, because it has a folder, or the cell's main one (in the executable). */
export function threadsOf({ mode }: Bed): Readonly<Record<string, Partial<Grants>>> {
  const own = { "a thread of its own": { fs: { work: "rw", mounts: [] } } } as const;
  return mode === "source" ? own : { ...own, "the main thread": {} };
}

const built = new Map<string, Promise<CachedComponent>>();
let cacheRoot: string | undefined;

/** Runs JavaScript in the probe that delegates. */
export async function runDelegating(
  bed: Bed,
  source: string,
  options: DelegatingOptions = {},
): Promise<DelegatingResult> {
  return await runComponent(bed, await fixture("delegate_probe"), [source], options);
}

/** Runs the component at `path`. */
export async function runComponent(
  bed: Bed,
  path: string,
  args: readonly string[],
  options: DelegatingOptions = {},
): Promise<DelegatingResult> {
  const building = built.get(path) ?? build(Deno.realPathSync(path));
  built.set(path, building);
  const component = await building;
  const read = (name: string) => bed.environment()[name];
  using places = createSession(openHome(read));
  const trace = new TraceWriter(places);
  let streams: Promise<readonly [string, string, unknown]> | undefined;
  const { outcome } = await runCell(
    {
      plan: {
        capsule: { name: "probe", kind: "component", path: "", digest: "" },
        grants: { ...NO_GRANTS, stdio: true, clocks: true, random: true, spawn: ["worker"], ...options.grants },
        args,
        containment: { achieved: "advisory", reasons: [] },
      },
      component,
      envValues: {},
      places,
      trace,
      kernel: { landlock: bed.mode === "binary", seccomp: bed.mode === "binary" },
      tmp: bed.root,
      interrupt: options.interrupt ?? new AbortController().signal,
      ...(options.delegator === undefined ? {} : { delegator: options.delegator }),
    },
    [false, false, false],
    async (launch) => {
      const captured = await spawnCapturedCell(bed.mode === "source" ? launch : asExecutable(bed, launch));
      streams = handle(captured, options.input ?? ReadableStream.from([]));
      options.onCell?.(captured.cell);
      return captured.cell;
    },
  );
  trace.close();
  const [stdout, stderr] = await streams!;
  return { outcome, stdout, stderr, value: parseLastLine(stdout) };
}

/** The component with what it is built from; kept for this file's tests. */
async function build(componentPath: string): Promise<CachedComponent> {
  cacheRoot ??= makeCache();
  const digest = `sha256:${hashBytes(Deno.readFileSync(componentPath))}`;
  return await ensureComponent({ cacheRoot, componentPath, digest, memoryMb: NO_GRANTS.limits.memory_mb, hull: false });
}

function makeCache(): string {
  const folder = Deno.makeTempDirSync({ prefix: "boll-test-warm-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  return folder;
}

function asExecutable(bed: Bed, launch: CellLaunch): CellLaunch {
  const { DENO_DIR: _, DENO_NO_UPDATE_CHECK: __, ...env } = launch.env;
  return { ...launch, program: bed.command([])[0]!, args: [], env };
}

function handle({ stdin, stdout, stderr }: CapturedCell, input: ReadableStream<Uint8Array>) {
  return Promise.all([
    new Response(stdout).text(),
    new Response(stderr).text(),
    input.pipeTo(stdin).catch(() => {}), // the guest may be gone before it has read
  ]);
}

function parseLastLine(text: string): unknown {
  try {
    return JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
  } catch {
    return undefined;
  }
}

/** The id of the delegation of that number. */
export function idOf(number: number): string {
  return `dlg_${number.toString(16).padStart(32, "0")}`;
}

/** How a {@link ScriptedDelegator} answers the call of a number, from 1. */
export interface DelegatorScript {
  start(call: DelegateCall, number: number): Promise<DelegateStarted | DelegateRefusal>;
  ended(number: number): Promise<string>;
}

/** Answers calls as its script says; what it does not say is: each is started, and ends at once with its task as the text. */
export class ScriptedDelegator implements Delegator {
  readonly calls: DelegateCall[] = [];
  readonly #script: Partial<DelegatorScript>;

  constructor(script: Partial<DelegatorScript> = {}) {
    this.#script = script;
  }

  start(call: DelegateCall): Promise<DelegateStarted | DelegateRefusal> {
    const number = this.calls.push(call);
    return this.#script.start?.(call, number) ?? Promise.resolve({ delegation_id: idOf(number) });
  }

  ended(id: string): Promise<string> {
    const number = Number(`0x${id.slice(4)}`);
    return this.#script.ended?.(number) ?? Promise.resolve(this.calls[number - 1]!.task);
  }
}
