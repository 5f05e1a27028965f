import { CapsuleError, printableLine } from "../../base/mod.ts";
import { type CachedComponent, findToolName } from "../../component/mod.ts";
import { checkImports, type Grants, refuseImports, toFlags, toolGrants } from "../../grants/mod.ts";
import type { DeclaredGrants } from "../../manifest/mod.ts";
import {
  decodeToolDescription,
  encodeToolText,
  MAX_TOOL_TEXT_BYTES,
  type RunLoad,
  type ToolAnswer,
  type ToolLogLevel,
  type ToolsLoad,
} from "../../protocol/mod.ts";
import { makeTemporaryFolder, type SessionPlaces, type TraceWriter } from "../../records/mod.ts";
import { checkWalls, wallsEvent } from "../walls/cell_walls.ts";
import type { Delegator } from "../delegations/delegator.ts";
import { GuestLog } from "../cell/guest_log.ts";
import type { PlannedContainment } from "../plan.ts";
import { type Denied, openNetwork } from "../cell/run_cell.ts";
import type { RunNetwork, RunUpstream } from "../network/run_network.ts";
import { selfCommand, sourceFlags } from "../self_command.ts";
import { ServingCell } from "../cell/serving_cell.ts";
import { type ComponentTool, readDescription } from "./describe_tool.ts";
import { ToolCall } from "./tool_call.ts";
import { ToolGroup } from "./tool_group.ts";
import { ToolHost } from "./tool_host.ts";
import { failedResult, type ToolResult } from "./tool_result.ts";

/** One tool of a capsule, built with the memory that its grants give ({@link toolGrants}). */
export interface ToolInput {
  /** As the manifest names it. */
  readonly name: string;
  readonly component: CachedComponent;
  /** Its own block; absent: it has all that the capsule has. */
  readonly grants?: DeclaredGrants;
}

/** A question of a tool to a person. */
export interface InputQuestion {
  readonly tool: string;
  readonly question: string;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** What this process must leave itself when it confines itself. */
export interface ToolNeeds {
  /** The components' folders in the cache. */
  readonly caches: readonly string[];
  /** The gates that listen. */
  readonly networks: readonly RunNetwork["supervisor"][];
}

/** Options of {@link ToolCells.open}. */
export interface ToolCellsOptions {
  /** The capsule's effective grants, every mount bound. */
  readonly grants: Grants;
  readonly containment: PlannedContainment;
  /** At least one, each name once. */
  readonly tools: readonly ToolInput[];
  readonly envValues: Readonly<Record<string, string>>;
  readonly places: Pick<SessionPlaces, "work" | "runtime">;
  readonly kernel: RunLoad["kernel"];
  readonly trace: TraceWriter;
  readonly upstream?: RunUpstream;
  /** Where the folders of cells are made; default the runtime folder. */
  readonly tmp?: string;
  /** How a cell is started with these flags; default this program. */
  readonly self?: typeof selfCommand;
  /** Starts what tools delegate to; absent: nothing is. */
  readonly delegator?: Delegator;
  /** Whether calls go into the trace from here; default they do. */
  readonly recordsCalls?: boolean;
  /** Asks a person; absent: nobody can be asked. */
  requestInput?(question: InputQuestion): Promise<{ readonly text: string } | { readonly refused: string }>;
  /** A line of a tool for the log, which has it already. Foreign text. */
  onLog?(line: { readonly tool: string; readonly level: ToolLogLevel; readonly text: string }): void;
  /** A word of a tool for whoever watches. Foreign text. */
  onEmit?(word: { readonly tool: string; readonly text: string }): void;
  /** Told of what was denied; the trace has it already. */
  onDenied?(denied: Denied): void;
  /** Called once, when every gate listens and no cell was started yet: the place to raise this process's own hull. */
  confine?(needs: ToolNeeds): void;
}

/** Options of {@link ToolCells.call}. */
export interface ToolCallOptions {
  readonly signal: AbortSignal;
  /** Narrows the time that the tool's grants give. */
  readonly deadlineMs?: number;
}

/** How long a tool may take to describe itself, ms. */
const DESCRIBE_MS = 10_000;

interface Member {
  readonly input: ToolInput;
  readonly grants: Grants;
}

interface Opened {
  readonly members: readonly Member[];
  readonly group: ToolGroup;
  readonly network: RunNetwork | undefined;
}

/** The component tools of a capsule: one cell for each set of grants among them. */
export class ToolCells implements AsyncDisposable {
  /** In the order of the manifest. */
  readonly tools: readonly ComponentTool[] = [];
  readonly #options: ToolCellsOptions;
  readonly #log: GuestLog;
  readonly #groups: Opened[] = [];

  private constructor(options: ToolCellsOptions) {
    this.#options = options;
    this.#log = new GuestLog(options.places);
  }

  /**
   * Starts the cells, and asks every tool for its description. Nothing of it is left when that fails.
   *
   * @throws `component.no_tool_export`, `grant.import_not_granted`, `tool.*`, `cell.start_failed`, `hull.failed`
   */
  static async open(options: ToolCellsOptions): Promise<ToolCells> {
    const members = options.tools.map((input) => memberOf(input, options.grants));
    const cells = new ToolCells(options);
    try {
      for (const some of byGrants(members)) cells.#groups.push(await cells.#open(some));
      options.confine?.({
        caches: members.map(({ input }) => input.component.dir),
        networks: cells.#groups.flatMap(({ network }) => network?.supervisor ?? []),
      });
      const described = await Promise.all(options.tools.map(({ name }) => cells.#describe(name)));
      (cells as { tools: readonly ComponentTool[] }).tools = described;
      return cells;
    } catch (error) {
      await cells[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Calls a tool with JSON text. Trap, timeout, loss of its cell, an unknown name: all are results. */
  async call(name: string, input: string, { signal, deadlineMs = Infinity }: ToolCallOptions): Promise<ToolResult> {
    const tool = this.tools.find((one) => one.name === name);
    const found = this.#find(name);
    if (tool === undefined || found === undefined) {
      return failedResult(name, { failed: "overloaded", detail: "there is no tool of that name" });
    }
    const encoded = encodeToolText(input);
    if (encoded === undefined) {
      return failedResult(name, {
        failed: "body_too_large",
        detail: `the input is larger than ${MAX_TOOL_TEXT_BYTES} bytes`,
      });
    }
    const startedAt = performance.now();
    const call = new ToolCall({
      tool: name,
      input: encoded,
      deadlineMs: Math.min(deadlineMs, found.member.grants.limits.deadline_ms),
      mayRunTwice: !tool.mutates,
    });
    await found.group.run(call, signal);
    const result = await resultOf(name, call);
    if (this.#options.recordsCalls ?? true) {
      this.#options.trace.append("tool_call", {
        tool: name,
        is_error: result.isError,
        ...(result.failure === undefined ? {} : { failure: result.failure }),
        duration_ms: Math.round(performance.now() - startedAt),
      });
    }
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#groups.map(({ group }) => group[Symbol.asyncDispose]()));
    await Promise.all(this.#groups.map(({ network }) => network?.[Symbol.asyncDispose]()));
    this.#log[Symbol.dispose]();
  }

  #find(name: string): { readonly group: ToolGroup; readonly member: Member } | undefined {
    for (const { group, members } of this.#groups) {
      const member = members.find(({ input }) => input.name === name);
      if (member !== undefined) return { group, member };
    }
    return undefined;
  }

  async #open(members: readonly Member[]): Promise<Opened> {
    const { grants } = members[0]!;
    const options = this.#options;
    const host = new ToolHost({ ...options, capsule: options.grants, grants, log: this.#log });
    const network = await openNetwork({ ...options, plan: { grants } }, host.onDenied);
    let isFirst = true;
    const group = new ToolGroup({
      limits: grants.limits,
      start: async () => {
        const cell = await this.#start(members, network, host, isFirst);
        isFirst = false;
        return cell;
      },
      onLost: (reason, calls) => options.trace.append("cell_lost", { reason, calls }),
    });
    return { members, group, network };
  }

  async #start(
    members: readonly Member[],
    network: RunNetwork | undefined,
    host: ToolHost,
    isFirst: boolean,
  ): Promise<ServingCell<ToolCall>> {
    const { containment, trace, self = selfCommand } = this.#options;
    const tmp = makeTemporaryFolder(this.#options.tmp);
    const load = this.#loadOf(members, tmp.path, network);
    const caches = load.tools.map(({ folder }) => folder);
    const places = { ...load.folders, cache: caches, ...network?.places };
    const own = self(toFlags({ kind: "cell", grants: load.grants, places, ...sourceFlags() }));
    return await ServingCell.start<ToolCall>({
      tmp,
      own,
      load,
      checkWalls(walls) {
        checkWalls(walls, { containment });
        if (isFirst) trace.append("walls", wallsEvent(walls));
      },
      onMessage: (message, cell) => host.take(message, cell, network),
    });
  }

  #loadOf(members: readonly Member[], tmp: string, network: RunNetwork | undefined): ToolsLoad {
    const { envValues, places, kernel } = this.#options;
    const { grants } = members[0]!;
    return {
      type: "load",
      kind: "tools",
      grants,
      env: Object.entries(envValues).filter(([name]) => grants.env.includes(name)),
      folders: { tmp, ...(grants.fs.work === undefined ? {} : { work: places.work }) },
      kernel,
      ...(network === undefined ? {} : { network: network.cell }),
      tools: members.map(({ input: { name, component } }) => ({
        name,
        folder: component.dir,
        component: {
          key: component.key,
          glue: component.glue,
          code: component.code,
          modules: component.modules,
          memories: component.description.memories,
        },
      })),
    };
  }

  async #describe(name: string): Promise<ComponentTool> {
    const { group, member } = this.#find(name)!;
    const deadlineMs = Math.min(DESCRIBE_MS, member.grants.limits.deadline_ms);
    const call = new ToolCall({ tool: name, deadlineMs, mayRunTwice: true });
    await group.run(call, new AbortController().signal);
    const end = await call.end;
    if ("value" in end) return readDescription(name, decodeToolDescription(end.value));
    throw new CapsuleError(
      "tool.describe_failed",
      `Describe tool ${printableLine(name, 80)}: ${failedResult(name, end.failure).content}`,
    );
  }
}

/** @throws `component.no_tool_export`, `grant.import_not_granted` */
function memberOf(input: ToolInput, capsule: Grants): Member {
  const { name, component: { description } } = input;
  const shown = printableLine(name, 80);
  if (findToolName(description.exports) === undefined) {
    throw new CapsuleError(
      "component.no_tool_export",
      `Open tool ${shown}: its component exports no boll:capsule/tool@0.1.0; build it for a world that does`,
    );
  }
  const { grants } = toolGrants(input.grants, capsule);
  const missing = checkImports(description.imports, grants, undefined, "tool");
  if (missing.length === 0) return { input, grants };
  const refusal = refuseImports(missing);
  throw new CapsuleError(refusal.code, `Open tool ${shown}: ${refusal.message}`, { problems: refusal.problems });
}

function byGrants(members: readonly Member[]): Member[][] {
  return [...Map.groupBy(members, ({ grants }) => JSON.stringify(grants)).values()];
}

async function resultOf(name: string, call: ToolCall): Promise<ToolResult> {
  const end = await call.end;
  if ("failure" in end) return failedResult(name, end.failure);
  const { ok, text } = end.value as ToolAnswer;
  return { content: text, isError: !ok };
}
