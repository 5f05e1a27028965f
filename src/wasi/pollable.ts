import { HOSTED, requireHosted } from "./hosted.ts";

/** What a pollable waits for. */
export interface Readiness {
  ready(): boolean;
  /** Calls `wake` (once or more) when it may be ready; answers how to stop that. */
  watch(wake: () => void): () => void;
  /** Holds up the thread until ready: tried when nothing else is waited for. False: it could not. */
  blockSync?(): boolean;
}

/** Something that always is ready. */
export const ALWAYS_READY: Readiness = { ready: () => true, watch: () => () => {} };

/** `pollable` of `wasi:io/poll`. */
export class Pollable {
  readonly #readiness: Readiness;

  constructor(key: typeof HOSTED, readiness: Readiness) {
    requireHosted(key);
    this.#readiness = readiness;
  }

  ready(): boolean {
    return this.#readiness.ready();
  }

  async block(): Promise<void> {
    await settle([this.#readiness]);
  }

  /** `poll`: indices of the ready ones. @throws Error (a trap) on an empty list, as WASI says. */
  static poll(list: readonly Pollable[]): Promise<Uint32Array> {
    if (list.length === 0) throw new Error("Poll: the list is empty");
    return settle(list.map((pollable) => pollable.#readiness));
  }
}

async function settle(list: readonly Readiness[]): Promise<Uint32Array> {
  for (;;) {
    const ready = readyIndices(list);
    if (ready.length > 0) return ready;
    const [first] = list;
    if (list.length === 1 && first?.blockSync?.() === true) continue;
    await woken(list);
  }
}

function readyIndices(list: readonly Readiness[]): Uint32Array {
  const indices: number[] = [];
  list.forEach((readiness, index) => {
    if (readiness.ready()) indices.push(index);
  });
  return new Uint32Array(indices);
}

async function woken(list: readonly Readiness[]): Promise<void> {
  const stops: (() => void)[] = [];
  try {
    await new Promise<void>((wake) => {
      for (const readiness of list) stops.push(readiness.watch(wake));
    });
  } finally {
    for (const stop of stops) stop();
  }
}
