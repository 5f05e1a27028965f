import { appendLine } from "../base/mod.ts";
import type { FromCell } from "../protocol/mod.ts";
import type { SessionPlaces } from "../records/mod.ts";

/** The most that a session keeps of what its guests wrote, bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** What served guests wrote to stdout and stderr, a JSON object a line in `runtime/logs/guest.jsonl`; so much and no more. */
export class GuestLog implements Disposable {
  readonly #path: string;
  #file: Deno.FsFile | undefined;
  #bytes = 0;
  #hasFailed = false;

  constructor(places: Pick<SessionPlaces, "runtime">) {
    this.#path = `${places.runtime}/logs/guest.jsonl`;
  }

  /** Keeps one line; a full disk costs lines and not requests. */
  append(log: Extract<FromCell, { type: "log" }>, cell: number): void {
    if (this.#bytes >= MAX_BYTES || this.#hasFailed) return;
    const { id, stream, text } = log;
    const line = JSON.stringify({ ts: Date.now(), cell, call: id, stream, text });
    this.#bytes += line.length + 1;
    const end = this.#bytes >= MAX_BYTES ? `\n${JSON.stringify({ ts: Date.now(), note: "no more is kept" })}` : "";
    try {
      this.#file ??= Deno.openSync(this.#path, { append: true, create: true, mode: 0o600 });
      appendLine(this.#file, line + end);
    } catch {
      this.#hasFailed = true;
    }
  }

  [Symbol.dispose](): void {
    this.#file?.close();
  }
}
