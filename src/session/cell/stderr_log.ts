import { writeAll } from "../../base/mod.ts";
import type { SessionPaths } from "../../records/mod.ts";

/** The most that is kept in one file, bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Options of {@link StderrLog}. With `rolls`, what is full goes to `stderr.1.log`, over what was there, and it goes on. */
export interface StderrLogOptions {
  readonly rolls?: boolean;
}

/** What a captured guest wrote to stderr, as it is, in `runtime/logs/stderr.log`; so much and no more. */
export class StderrLog implements Disposable {
  readonly #folder: string;
  readonly #rolls: boolean;
  #file: Deno.FsFile | undefined;
  #room = MAX_BYTES;
  #heading: string | undefined;

  constructor(places: Pick<SessionPaths, "runtime">, { rolls = false }: StderrLogOptions = {}) {
    this.#folder = `${places.runtime}/logs`;
    this.#rolls = rolls;
  }

  /** What comes from here on stands below this line; without any, the line is not written either. */
  head(line: string): void {
    this.#heading = line;
  }

  /** Keeps these bytes; a full disk costs the log and not the run. */
  append(bytes: Uint8Array): void {
    if (this.#heading !== undefined) {
      const heading = new TextEncoder().encode(`${this.#heading}\n`);
      this.#heading = undefined;
      this.append(heading);
    }
    if (this.#room === 0) return;
    const kept = bytes.subarray(0, this.#room);
    this.#room -= kept.length;
    try {
      this.#file ??= Deno.openSync(`${this.#folder}/stderr.log`, { append: true, create: true, mode: 0o600 });
      writeAll(this.#file, kept);
      if (this.#room === 0) this.#full(bytes.subarray(kept.length));
    } catch {
      this.#room = 0;
    }
  }

  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #full(rest: Uint8Array): void {
    if (!this.#rolls) return writeAll(this.#file!, new TextEncoder().encode("\n[no more is kept]\n"));
    this[Symbol.dispose]();
    Deno.renameSync(`${this.#folder}/stderr.log`, `${this.#folder}/stderr.1.log`);
    this.#room = MAX_BYTES;
    if (rest.length > 0) this.append(rest);
  }
}
