import { writeAll } from "../base/mod.ts";
import type { SessionPaths } from "../records/mod.ts";

/** The most that is kept, bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** What a captured guest wrote to stderr, as it is, in `runtime/logs/stderr.log`; so much and no more. */
export class StderrLog implements Disposable {
  readonly #path: string;
  #file: Deno.FsFile | undefined;
  #room = MAX_BYTES;

  constructor(places: Pick<SessionPaths, "runtime">) {
    this.#path = `${places.runtime}/logs/stderr.log`;
  }

  /** Keeps these bytes; a full disk costs the log and not the run. */
  append(bytes: Uint8Array): void {
    if (this.#room === 0) return;
    const kept = bytes.subarray(0, this.#room);
    this.#room -= kept.length;
    try {
      this.#file ??= Deno.openSync(this.#path, { append: true, create: true, mode: 0o600 });
      writeAll(this.#file, kept);
      if (this.#room === 0) writeAll(this.#file, new TextEncoder().encode("\n[no more is kept]\n"));
    } catch {
      this.#room = 0;
    }
  }

  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = undefined;
  }
}
