/**
 * Tools of a capsule in real cells whose parent is the test.
 */
import { hashBytes } from "../../src/component/hash.ts";
import type { CachedComponent } from "../../src/component/mod.ts";
import { type Grants, NO_GRANTS, toolGrants } from "../../src/grants/mod.ts";
import type { DeclaredGrants } from "../../src/manifest/mod.ts";
import { createSession, openHome, TraceWriter } from "../../src/records/mod.ts";
import { ensureComponent } from "../../src/session/mod.ts";
import { ToolCells, type ToolCellsOptions, type ToolResult } from "../../src/session/tools/mod.ts";
import { type Bed, fixture, type TraceEvent } from "../harness.ts";

/** A tool: the probe unless said otherwise. */
export interface TestTool {
  readonly name: string;
  /** A guest of `tests/fixtures`, or the absolute path of a component. */
  readonly fixture?: string;
  readonly grants?: DeclaredGrants;
}

/** What differs from tools whose capsule has streams, clocks and random numbers. */
export interface CalledToolsOptions extends Partial<Omit<ToolCellsOptions, "grants" | "tools">> {
  readonly grants?: Partial<Omit<Grants, "limits">>;
  readonly limits?: Partial<Grants["limits"]>;
}

/** Tools that can be called. */
export class CalledTools implements AsyncDisposable {
  readonly cells: ToolCells;
  /** The session's folder. */
  readonly folder: string;
  readonly #close: () => Promise<void>;

  private constructor(cells: ToolCells, folder: string, close: () => Promise<void>) {
    this.cells = cells;
    this.folder = folder;
    this.#close = close;
  }

  /** @throws what `ToolCells.open` throws */
  static async open(bed: Bed, tools: readonly TestTool[], options: CalledToolsOptions = {}): Promise<CalledTools> {
    const capsule = { ...NO_GRANTS, ...options.grants, limits: { ...NO_GRANTS.limits, ...options.limits } };
    const inputs = [];
    for (const { name, fixture: guest = "tool_probe", grants } of tools) {
      const { memory_mb } = toolGrants(grants, capsule).grants.limits;
      inputs.push({ name, component: await built(guest, memory_mb), ...(grants === undefined ? {} : { grants }) });
    }
    const places = createSession(openHome((name) => bed.environment()[name]));
    const trace = new TraceWriter(places);
    const close = () => {
      trace.close();
      places.close();
    };
    const isBinary = bed.mode === "binary";
    try {
      const cells = await ToolCells.open({
        containment: { achieved: isBinary ? "scoped" : "advisory", reasons: [] },
        envValues: {},
        places,
        kernel: { landlock: isBinary, seccomp: isBinary },
        trace,
        tmp: bed.root,
        ...(isBinary ? { self: () => ({ program: bed.command([])[0]!, args: [], env: {} }) } : {}),
        ...options,
        grants: capsule,
        tools: inputs,
      });
      return new CalledTools(cells, places.root, async () => {
        await cells[Symbol.asyncDispose]();
        close();
      });
    } catch (error) {
      close();
      throw error;
    }
  }

  /** Calls a tool with what the probe is to do. */
  call(
    tool: string,
    what: Record<string, unknown> | string,
    { signal = new AbortController().signal, ...options }: { signal?: AbortSignal; deadlineMs?: number } = {},
  ): Promise<ToolResult> {
    const input = typeof what === "string" ? what : JSON.stringify(what);
    return this.cells.call(tool, input, { signal, ...options });
  }

  get trace(): TraceEvent[] {
    return lines(`${this.folder}/records/trace.jsonl`) as unknown as TraceEvent[];
  }

  /** What tools wrote to their streams and logs. */
  get log(): Record<string, unknown>[] {
    return lines(`${this.folder}/runtime/logs/guest.jsonl`);
  }

  /** Waits until a tool has written a line. */
  async untilLogged(text: string): Promise<void> {
    while (!this.log.some((line) => line["text"] === text)) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

function lines(path: string): Record<string, unknown>[] {
  try {
    return Deno.readTextFileSync(path).trimEnd().split("\n").filter(Boolean).map((line) => JSON.parse(line));
  } catch {
    return []; // nothing was written yet
  }
}

const builds = new Map<string, Promise<CachedComponent>>();
let cacheRoot: string | undefined;

/** Kept for this file's tests. */
function built(guest: string, memoryMb: number): Promise<CachedComponent> {
  const key = `${guest} ${memoryMb}`;
  const building = builds.get(key) ?? build(guest, memoryMb);
  builds.set(key, building);
  return building;
}

async function build(guest: string, memoryMb: number): Promise<CachedComponent> {
  cacheRoot ??= makeCache();
  const componentPath = Deno.realPathSync(guest.startsWith("/") ? guest : await fixture(guest));
  const digest = `sha256:${hashBytes(Deno.readFileSync(componentPath))}`;
  return await ensureComponent({ cacheRoot, componentPath, digest, memoryMb, hull: false });
}

function makeCache(): string {
  const folder = Deno.makeTempDirSync({ prefix: "boll-test-warm-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  return folder;
}
