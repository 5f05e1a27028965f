import { join } from "@std/path";
import type { SessionPaths } from "../places.ts";

/** How many answers are kept, and how many bytes of them. */
export interface AnswerBounds {
  readonly answers: number;
  readonly bytes: number;
}

/** The answers that the tasks of one session left in `records/out`: whoever sends many must not fill the disk with them. */
export class KeptAnswers {
  readonly #folder: string;
  readonly #bounds: AnswerBounds;
  /** Name → bytes, the oldest first. */
  readonly #kept = new Map<string, number>();
  #bytes = 0;

  constructor({ out }: Pick<SessionPaths, "out">, bounds: AnswerBounds) {
    this.#folder = out;
    this.#bounds = bounds;
  }

  /** A task has ended, which may have left an answer. The oldest go, but not this one. */
  add(taskId: string): void {
    const name = `result_${taskId}.txt`;
    const bytes = sizeOf(join(this.#folder, name));
    if (bytes === undefined) return;
    this.#kept.set(name, bytes);
    this.#bytes += bytes;
    for (const [oldest, held] of this.#kept) {
      if (oldest === name || (this.#kept.size <= this.#bounds.answers && this.#bytes <= this.#bounds.bytes)) break;
      this.#kept.delete(oldest);
      this.#bytes -= held;
      remove(join(this.#folder, oldest));
    }
  }
}

function sizeOf(path: string): number | undefined {
  try {
    return Deno.lstatSync(path).size;
  } catch {
    return undefined;
  }
}

function remove(path: string): void {
  try {
    Deno.removeSync(path);
  } catch { /* whoever removed it before did the same */ }
}
