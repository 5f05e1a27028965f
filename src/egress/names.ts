import { lookup } from "node:dns";
import { parseAddress } from "./address.ts";
import type { Resolve } from "./options.ts";
import { Refusal } from "./refusal.ts";

const MAX_ADDRESSES = 32;
const MAX_REMEMBERED = 1024;
const MAX_NAMES_OF_ONE = 16;
const MAX_PENDING = 128;

/** `getaddrinfo`: `/etc/hosts` first, then the system's name servers; in the system's order. */
export const resolveBySystem: Resolve = (name) =>
  new Promise((settle, reject) => {
    lookup(name, { all: true, verbatim: true }, (error: Error | null, found: { address: string }[]) => {
      if (error) reject(error);
      else settle(found.map(({ address }) => address));
    });
  });

/** Names to addresses, once per question; and, the other way, which name a guest learnt an address from. */
export class Names {
  readonly #resolve: Resolve;
  readonly #learnt = new Map<string, Set<string>>();
  #pending = 0;

  constructor(resolve: Resolve = resolveBySystem) {
    this.#resolve = resolve;
  }

  /**
   * The addresses of a normalised name. `localhost` is the two loopback addresses, whatever a file or server says.
   *
   * @throws {Refusal} `dns-error`, or `dns-timeout` when the signal comes first.
   */
  async lookUp(name: string, signal: AbortSignal): Promise<readonly string[]> {
    if (name === "localhost") return ["127.0.0.1", "::1"];
    // What was given up goes on in a thread of the system, so the questions under way are bounded and not the asking.
    if (this.#pending >= MAX_PENDING) throw new Refusal("dns-error", "Resolve a name: too many look-ups at once");
    this.#pending++;
    const answer = Promise.resolve(name).then(this.#resolve).finally(() => this.#pending--);
    const found = await untilAborted(answer, signal).catch(() => {
      if (signal.aborted) throw new Refusal("dns-timeout", "Resolve a name: no answer in time");
      throw new Refusal("dns-error", "Resolve a name: it has no address");
    });
    const addresses = found.filter((address) => parseAddress(address) !== undefined).slice(0, MAX_ADDRESSES);
    if (addresses.length === 0) throw new Refusal("dns-error", "Resolve a name: it has no address");
    return addresses;
  }

  /** Keeps which name these addresses were given out for; the oldest are forgotten beyond 1024. */
  learn(name: string, addresses: readonly string[]): void {
    for (const address of addresses) {
      const names = this.#learnt.get(address) ?? new Set();
      this.#learnt.delete(address);
      names.add(name);
      if (names.size > MAX_NAMES_OF_ONE) names.delete(names.values().next().value!);
      this.#learnt.set(address, names);
      if (this.#learnt.size > MAX_REMEMBERED) this.#learnt.delete(this.#learnt.keys().next().value!);
    }
  }

  /** The names that an address was given out for. */
  namesOf(address: string): readonly string[] {
    return [...this.#learnt.get(address) ?? []];
  }
}

/** The promise's value, or a rejection as soon as the signal is aborted. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((settle, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(settle, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
