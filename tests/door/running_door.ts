import { type Door, type DoorEvent, type DoorOptions, openDoor } from "../../src/door/mod.ts";
import { hashToken } from "../../src/records/mod.ts";
import type { DoorTask, DoorWork, TaskEnd, TaskVoice } from "../../src/door/mod.ts";

/** The owner's token of every door that a test opens. */
export const OWNER = "owner-token";

/** A task whose work is the test. */
export interface HeldTask {
  readonly task: DoorTask;
  readonly voice: TaskVoice;
  end(end: TaskEnd): void;
  fail(error: unknown): void;
}

/** Work that waits for the test: each task that begins is handed out by {@link next}. */
export class HeldWork implements DoorWork {
  readonly #begun: HeldTask[] = [];
  #waiting: ((task: HeldTask) => void)[] = [];

  run(task: DoorTask, voice: TaskVoice): Promise<TaskEnd> {
    const { promise, resolve, reject } = Promise.withResolvers<TaskEnd>();
    const held = { task, voice, end: resolve, fail: reject };
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#begun.push(held);
    else waiting(held);
    return promise;
  }

  /** The next task that begins. */
  next(): Promise<HeldTask> {
    const held = this.#begun.shift();
    return held === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(held);
  }
}

/** Answers each message with its text in capitals. */
export const SHOUT: DoorWork = {
  run: ({ text }) => Promise.resolve({ state: "completed", answer: text.toUpperCase() }),
};

/** A door on loopback, and all that it recorded. */
export interface RunningDoor extends AsyncDisposable {
  readonly door: Door;
  readonly url: string;
  readonly port: number;
  readonly events: DoorEvent[];
}

/** Opens a door; what is not said is as `boll serve` has it, with an owner and a peer named `ada` (token `ada-token`). */
export async function runDoor(options: Partial<DoorOptions> & Pick<DoorOptions, "work">): Promise<RunningDoor> {
  const events: DoorEvent[] = [];
  const door = await openDoor({
    listen: { hostname: "127.0.0.1", port: 0 },
    names: [],
    card: { name: "tested", description: "A door under test", version: "1.2.3", skills: [] },
    credentials: {
      isOpen: false,
      ownerTokenHash: hashToken(OWNER),
      peers: [{ name: "ada", tokenHash: hashToken("ada-token") }, { name: "bob", tokenHash: hashToken("bob-token") }],
    },
    accept: "queue",
    queueDepth: 256,
    storage: { kind: "memory" },
    isIdempotent: false,
    record: (event) => events.push(event),
    ...options,
  });
  return {
    door,
    url: door.url,
    port: door.address.port,
    events,
    [Symbol.asyncDispose]: () => door.drain(1_000),
  };
}
