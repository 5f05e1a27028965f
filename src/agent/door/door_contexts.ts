import type { DoorTask } from "../../door/mod.ts";
import type { Msg } from "../../protocol/control/mod.ts";

/** Conversations that are kept, and their bytes together: the one that rested longest goes first. */
const MAX_CONTEXTS = 256;
const MAX_BYTES = 32 * 1024 * 1024;

type Whose = Pick<DoorTask, "contextId" | "principal">;

/** What was said in each conversation of a door. Two senders share none, whatever they call it. */
export class DoorContexts {
  readonly #kept = new Map<string, { readonly messages: readonly Msg[]; readonly bytes: number }>();
  readonly #beginning: readonly Msg[];
  #bytes = 0;

  /** `beginning` stands before every conversation. */
  constructor(beginning: readonly Msg[] = []) {
    this.#beginning = beginning;
  }

  /** The transcript so far. */
  get(whose: Whose): readonly Msg[] {
    return this.#kept.get(keyOf(whose))?.messages ?? this.#beginning;
  }

  /** Adds what a task said. */
  add(whose: Whose, messages: readonly Msg[]): void {
    const key = keyOf(whose);
    const all = [...this.get(whose), ...messages];
    this.#drop(key);
    const bytes = JSON.stringify(all).length;
    this.#kept.set(key, { messages: all, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_CONTEXTS && this.#bytes <= MAX_BYTES) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}

function keyOf({ contextId, principal }: Whose): string {
  return JSON.stringify([principal, contextId]);
}
