import { appendLine } from "../../base/mod.ts";
import type { FromCell, ToolLogLevel } from "../../protocol/mod.ts";
import type { SessionPlaces } from "../../records/mod.ts";

/** The most that a session keeps of what its guests wrote, bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A line that a tool gave a level. */
export interface ToolLine {
  readonly level: ToolLogLevel;
  readonly text: string;
}

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
  append({ id, stream, text }: Extract<FromCell, { type: "log" }>, cell: number): void {
    this.#keep({ cell, call: id, stream, text });
  }

  /** Keeps one line of a tool: of its stdout or stderr, or one that it gave a level. */
  appendOf(tool: string, line: { readonly stream: string; readonly text: string } | ToolLine): void {
    this.#keep({ tool, ...line });
  }

  #keep(fields: Readonly<Record<string, unknown>>): void {
    if (this.#bytes >= MAX_BYTES || this.#hasFailed) return;
    const line = JSON.stringify({ ts: Date.now(), ...fields });
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
