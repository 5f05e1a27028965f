import type { InstanceTurns } from "../component/mod.ts";
import type { Emit, InstanceSlot } from "./served_instance.ts";

/** What stands for nobody's call. */
const NOBODY = 0;

/**
 * Which call has the guests' thread. The parent is told before a guest runs, since one that loops gives no other word:
 * it must know whose time passes, and whom to blame. That nobody has it is told when that has lasted a moment.
 */
export class GuestTurns {
  readonly #emit: Emit;
  readonly #suspended: (() => void)[] = [];
  /** As the parent knows it. */
  #told = NOBODY;
  #now = NOBODY;
  #isResuming = false;
  #isTelling = false;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** The turns of one instance. */
  of(slot: Pick<InstanceSlot, "callId">): InstanceTurns {
    return {
      enter: () => this.#enter(slot.callId),
      leave: () => this.#leave(),
      resume: (goOn) => this.#resume(goOn),
    };
  }

  /** The call is over, and the parent is told so: it has the thread no more. */
  end(id: number): void {
    if (this.#told === id) this.#told = NOBODY;
    if (this.#now === id) this.#now = NOBODY;
  }

  #enter(id: number): void {
    this.#now = id;
    if (this.#told !== id) this.#tell();
  }

  #leave(): void {
    this.#now = NOBODY;
    if (this.#isTelling || this.#told === NOBODY) return;
    this.#isTelling = true;
    setTimeout(() => {
      this.#isTelling = false;
      if (this.#now === NOBODY && this.#told !== NOBODY) this.#tell();
    });
  }

  #tell(): void {
    this.#told = this.#now;
    this.#emit({ type: "running", id: this.#now });
  }

  /** One at a time: settling only queues what the engine then does, which must have been done before the next is told. */
  #resume(goOn: () => void): void {
    this.#suspended.push(goOn);
    if (!this.#isResuming) this.#goOn();
  }

  #goOn(): void {
    const next = this.#suspended.shift();
    this.#isResuming = next !== undefined;
    if (next === undefined) return;
    next();
    queueMicrotask(() => this.#goOn());
  }
}
