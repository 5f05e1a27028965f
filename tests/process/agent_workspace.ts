/**
 * A workspace of agents: real manifests, a real lock, a tool that is a component, and `boll run` as a person types it.
 */
import { join } from "@std/path";
import { type Bed, type RunningBoll, type RunOptions, type RunResult, type TraceEvent } from "../harness.ts";
import { warmGuest } from "../warm_cache.ts";
import type { PlayedTurn } from "./prepare_agent.ts";

/** One agent of the workspace. */
export interface WorkspaceAgent {
  /** What its model plays; absent: `inference` says where it is, or it has its parent's. */
  readonly turns?: readonly PlayedTurn[];
  /** More of the block, or other than a scripted one. */
  readonly inference?: Readonly<Record<string, unknown>>;
  /** Tools, each the probe, with the grants of their own. */
  readonly tools?: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  readonly grants?: Readonly<Record<string, unknown>>;
  readonly peers?: readonly Readonly<Record<string, string>>[];
  readonly secrets?: Readonly<Record<string, readonly string[]>>;
  readonly trace?: Readonly<Record<string, unknown>>;
}

/** The agents in a bed's folder. */
export class AgentWorkspace {
  readonly root: string;
  readonly #bed: Bed;

  constructor(bed: Bed) {
    this.#bed = bed;
    this.root = bed.folder("workspace", { "boll.jsonc": `{ "capsules": ["*"] }` });
  }

  /** Writes an agent and gives its folder. */
  async agent(name: string, { turns, inference = {}, tools = {}, ...rest }: WorkspaceAgent): Promise<string> {
    const folder = join(this.root, name);
    Deno.mkdirSync(folder, { recursive: true });
    const scripted = turns === undefined ? {} : { dialect: "scripted", uri: "play.json" };
    if (turns !== undefined) Deno.writeTextFileSync(join(folder, "play.json"), JSON.stringify({ turns }));
    const named = Object.entries(tools).map(([tool, grants]) => ({
      ...{ name: tool, component: "probe.wasm" },
      ...(grants === undefined ? {} : { grants }),
    }));
    if (named.length > 0) Deno.copyFileSync(await warmGuest(this.#bed, "tool_probe"), join(folder, "probe.wasm"));
    const manifest = { name, version: "1.0.0", inference: { ...scripted, ...inference }, tools: named, ...rest };
    Deno.writeTextFileSync(join(folder, "capsule.jsonc"), JSON.stringify(manifest));
    return folder;
  }

  /** Writes `boll.lock`. */
  async lock(): Promise<void> {
    const { code, stderr } = await this.#bed.run(["lock", this.root]);
    if (code !== 0) throw new Error(`Lock the workspace: ${stderr}`);
  }

  /**
   * Gives an agent a task and waits for its end; the last line of stderr is its report. The newline that is put behind an
   * answer which has none is taken away, as a shell does.
   */
  async run(name: string, task: string, flags: readonly string[] = [], options: RunOptions = {}): Promise<AgentRun> {
    const result = await this.start(name, task, flags, options).result();
    return { ...result, stdout: result.stdout.replace(/\n$/, ""), report: result.json ?? {} };
  }

  /** The same, and comes back at once. */
  start(name: string, task: string, flags: readonly string[] = [], options: RunOptions = {}): RunningBoll {
    return this.#bed.start(this.command(name, task, flags), options);
  }

  command(name: string, task: string, flags: readonly string[] = []): string[] {
    return ["run", "--accept", "--json", "--quiet", ...flags, join(this.root, name), task];
  }
}

/** How an agent's run ended. */
export interface AgentRun extends RunResult {
  readonly report: Record<string, unknown>;
}

/** The traces of all sessions of the bed, oldest session first. */
export function tracesOf(bed: Bed): TraceEvent[][] {
  return bed.sessions().map((folder) =>
    Deno.readTextFileSync(join(folder, "records", "trace.jsonl")).trimEnd().split("\n").map((line) => JSON.parse(line))
  );
}

/** A round in which this tool is called. */
export function callOf(name: string, args: unknown = {}): PlayedTurn {
  return { tool_calls: [{ name, arguments: args }] };
}
