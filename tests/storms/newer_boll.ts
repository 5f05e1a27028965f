import { join } from "@std/path";
import {
  type Bed,
  REPOSITORY,
  type RunningBoll,
  type RunResult,
  sourceCommand,
  sourceEnvironment,
} from "../harness.ts";
import { collect, type RunOptions } from "../running_boll.ts";

/** What a newer version changes: its own name, and what it builds. */
const CHANGES = [
  ["deno.json", /"version": "[^"]+"/, '"version": "9.0.0"'],
  ["src/component/cache.ts", /TOOL_VERSION = "[^"]+"/, 'TOOL_VERSION = "tool-of-9.0.0"'],
] as const;

/** A boll of another version: this source with the places that tell versions apart changed. It runs from source. */
export class NewerBoll {
  readonly #bed: Bed;
  readonly #command: readonly string[];

  /** @throws Error if a place to change is not there */
  constructor(bed: Bed) {
    const root = bed.folder("newer");
    for (const name of ["main.ts", "deno.lock"]) Deno.copyFileSync(join(REPOSITORY, name), join(root, name));
    copyFolder(join(REPOSITORY, "src"), join(root, "src"));
    for (const name of [".build", "node_modules"]) Deno.symlinkSync(join(REPOSITORY, name), join(root, name));
    for (const [path, find, replacement] of CHANGES) {
      const text = Deno.readTextFileSync(join(REPOSITORY, path));
      if (!find.test(text)) throw new Error(`Change ${path}: found no ${find}`);
      Deno.writeTextFileSync(join(root, path), text.replace(find, replacement));
    }
    this.#bed = bed;
    this.#command = sourceCommand(root);
  }

  start(args: readonly string[], options: RunOptions = {}): RunningBoll {
    return this.#bed.startCommand([...this.#command, ...args], { ...options, env: sourceEnvironment() });
  }

  async run(args: readonly string[]): Promise<RunResult> {
    return await collect(this.start(args));
  }
}

function copyFolder(from: string, to: string): void {
  Deno.mkdirSync(to);
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copyFolder(join(from, name), join(to, name));
    else Deno.copyFileSync(join(from, name), join(to, name));
  }
}
