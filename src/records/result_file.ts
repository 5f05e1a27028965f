import { join } from "@std/path";
import { CapsuleError, writeAll } from "../base/mod.ts";
import { unwritable } from "./folders/home.ts";
import type { SessionPaths } from "./places.ts";

/**
 * An answer in `records/out` (`result.txt`, unless it has another name) while it is being written, piece by piece and in
 * flat memory: a reader sees nothing of it before `commit`, then the whole.
 */
export class ResultFile implements Disposable {
  readonly #path: string;
  readonly #temporary: string;
  #file: Deno.FsFile | undefined;
  #isEmpty = true;

  private constructor(path: string, temporary: string, file: Deno.FsFile) {
    this.#path = path;
    this.#temporary = temporary;
    this.#file = file;
  }

  /** @throws `home.unwritable` */
  static open(places: Pick<SessionPaths, "out">, name = "result.txt"): ResultFile {
    const path = join(places.out, name);
    const temporary = `${path}.${Deno.pid}.tmp`;
    const file = attempt(path, () => Deno.openSync(temporary, { write: true, createNew: true, mode: 0o600 }));
    return new ResultFile(path, temporary, file);
  }

  /** @throws `home.unwritable` */
  write(bytes: Uint8Array): void {
    const file = this.#file;
    if (file === undefined) return;
    this.#isEmpty &&= bytes.length === 0;
    attempt(this.#path, () => writeAll(file, bytes));
  }

  /**
   * What was written is the result from here on; where nothing was there is none, and no earlier one is taken for it.
   * @throws `home.unwritable`
   */
  commit(): void {
    if (this.#isEmpty) {
      this[Symbol.dispose]();
      return attempt(this.#path, () => removeIfThere(this.#path));
    }
    this.#file?.close();
    this.#file = undefined;
    attempt(this.#path, () => Deno.renameSync(this.#temporary, this.#path));
  }

  /** Drops what was not committed. */
  [Symbol.dispose](): void {
    if (this.#file === undefined) return;
    this.#file.close();
    this.#file = undefined;
    try {
      Deno.removeSync(this.#temporary);
    } catch { /* it is gone */ }
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof CapsuleError ? error : unwritable(path, error);
  }
}
