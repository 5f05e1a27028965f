import type { HostCall, HostResult } from "../protocol/mod.ts";
import type { Resolution } from "../wasi/mod.ts";

/** The calls of a guest's host to the parent that are under way, by number. */
export class HostCalls {
  readonly #send: (call: HostCall) => void;
  readonly #pending = new Map<number, (result: HostResult) => void>();
  #nextId = 0;

  constructor(send: (call: HostCall) => void) {
    this.#send = send;
  }

  /** The addresses of a granted name, as the parent's gate says. Never rejects. */
  async resolve(name: string): Promise<Resolution> {
    const id = this.#nextId++;
    const result = await new Promise<HostResult>((settle) => {
      this.#pending.set(id, settle);
      this.#send({ id, name: "resolve", args: { name } });
    });
    return "error" in result ? { ok: false, error: result.error } : { ok: true, addresses: result.value.addresses };
  }

  /** Takes an answer; one that nobody waits for is dropped. */
  settle(result: HostResult): void {
    const settle = this.#pending.get(result.id);
    this.#pending.delete(result.id);
    settle?.(result);
  }
}
