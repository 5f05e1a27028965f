/**
 * A workspace whose capsules delegate to one another: real manifests, a real lock, the probe that can delegate.
 */
import { join } from "@std/path";
import { type Bed, type RunningBoll, type RunResult } from "../harness.ts";
import { warmGuest } from "../warm_cache.ts";

/** One capsule of the workspace. */
export interface CapsuleOptions {
  readonly grants?: Record<string, unknown>;
  /** The JavaScript that its guest runs; absent: the operator gives it. */
  readonly source?: string;
  /** A guest of `tests/fixtures`; default the probe that can delegate. */
  readonly guest?: string;
  readonly version?: string;
}

/** A workspace in the bed's folder. */
export class DelegatingWorkspace {
  readonly root: string;
  readonly #bed: Bed;

  constructor(bed: Bed) {
    this.#bed = bed;
    this.root = bed.folder("workspace", { "boll.jsonc": `{ "capsules": ["*"] }` });
  }

  /** Writes a capsule and gives its folder. */
  async capsule(name: string, options: CapsuleOptions = {}): Promise<string> {
    const { grants = {}, source, guest = "delegate_probe", version = "0.1.0" } = options;
    const folder = join(this.root, name);
    Deno.mkdirSync(folder, { recursive: true });
    Deno.copyFileSync(await warmGuest(this.#bed, guest), join(folder, "guest.wasm"));
    const args = source === undefined ? {} : { args: [source] };
    const manifest = { name, version, component: "guest.wasm", ...args, grants };
    Deno.writeTextFileSync(join(folder, "capsule.jsonc"), JSON.stringify(manifest, null, 2));
    return folder;
  }

  /** Writes `boll.lock`. */
  async lock(): Promise<void> {
    const { code, stderr } = await this.#bed.run(["lock", this.root]);
    if (code !== 0) throw new Error(`Lock the workspace: ${stderr}`);
  }

  /** Runs a capsule of the workspace, whose guest runs the JavaScript, and gives what it printed last beside it. */
  async run(name: string, source: string, flags: readonly string[] = []): Promise<RunResult & { value: unknown }> {
    const result = await this.#bed.run(this.command(name, source, flags));
    return { ...result, value: parseLastLine(result.stdout) };
  }

  /** The same, and comes back at once. */
  start(name: string, source: string, flags: readonly string[] = []): RunningBoll {
    return this.#bed.start(this.command(name, source, flags));
  }

  command(name: string, source: string, flags: readonly string[] = []): string[] {
    return ["run", join(this.root, name), "--accept", ...flags, "--", source];
  }
}

function parseLastLine(text: string): unknown {
  try {
    return JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
  } catch {
    return undefined;
  }
}
