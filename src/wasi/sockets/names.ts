import { isIpLiteral, normalizeHost } from "../../grants/mod.ts";
import { HOSTED, requireHosted } from "../hosted.ts";
import { failureOfGate } from "../net/gate_error.ts";
import type { NetCheck } from "../net/net_check.ts";
import type { NetworkAccess, Resolution } from "../net/network_access.ts";
import { Watched } from "../net/watched.ts";
import { Pollable } from "../pollable.ts";
import { type IpAddress, ipAddressOf } from "./address.ts";
import type { NetworkError } from "./network_error.ts";

const MAX_PENDING = 16;
const MAX_LEARNT = 1024;
const MAX_ADDRESSES = 64;

/** Granted names to addresses, asked of the gate; and back, which names an address was given out for. */
export class Names {
  readonly #access: NetworkAccess;
  readonly #check: NetCheck;
  readonly #learnt = new Map<string, Set<string>>();
  #pending = 0;

  constructor(access: NetworkAccess, check: NetCheck) {
    this.#access = access;
    this.#check = check;
  }

  /**
   * Starts a look-up. An address is its own answer; a name must be granted, in whatever scheme, and a refusal is told:
   * a question about any other name would be a message to whoever answers it.
   * @throws NetworkError
   */
  lookUp(text: string): ResolveAddressStream {
    if (typeof text !== "string") throw new TypeError("Look up a name: found another type than string");
    const name = normalizeHost(text);
    if (name === undefined) throw "invalid-argument" satisfies NetworkError;
    if (isIpLiteral(name)) return new ResolveAddressStream(HOSTED, Promise.resolve({ ok: true, addresses: [name] }));
    if (!this.#check.allowsName(name)) {
      this.#check.denyName(name);
      throw "access-denied" satisfies NetworkError;
    }
    if (this.#pending >= MAX_PENDING) throw "temporary-resolver-failure" satisfies NetworkError;
    return new ResolveAddressStream(HOSTED, this.#ask(name));
  }

  /** The names that an address was given out for. */
  namesOf(address: string): readonly string[] {
    return [...this.#learnt.get(address) ?? []];
  }

  async #ask(name: string): Promise<Resolution> {
    this.#pending++;
    const answer = await this.#access.resolve(name);
    this.#pending--;
    if (answer.ok) { for (const address of answer.addresses.slice(0, MAX_ADDRESSES)) this.#learn(name, address); }
    return answer;
  }

  #learn(name: string, address: string): void {
    const names = this.#learnt.get(address) ?? new Set();
    this.#learnt.set(address, names.add(name));
    if (this.#learnt.size > MAX_LEARNT) this.#learnt.delete(this.#learnt.keys().next().value!);
  }
}

/** `resolve-address-stream`. */
export class ResolveAddressStream {
  readonly #readiness: Watched;
  #addresses: IpAddress[] | undefined;
  #error: NetworkError | undefined;

  constructor(key: typeof HOSTED, answer: Promise<Resolution>) {
    requireHosted(key);
    this.#readiness = new Watched(() => this.#addresses !== undefined || this.#error !== undefined);
    answer.then((resolution) => {
      if (resolution.ok) this.#addresses = resolution.addresses.slice(0, MAX_ADDRESSES).flatMap(toAddress);
      else this.#error = failureOfGate(resolution.error).network;
      if (this.#addresses?.length === 0) this.#error = "name-unresolvable";
      this.#readiness.wake();
    });
  }

  resolveNextAddress(): IpAddress | undefined {
    if (this.#error !== undefined) throw this.#error;
    if (this.#addresses === undefined) throw "would-block" satisfies NetworkError;
    return this.#addresses.shift();
  }

  subscribe(): Pollable {
    return new Pollable(HOSTED, this.#readiness);
  }
}

function toAddress(text: string): IpAddress[] {
  const address = ipAddressOf(text);
  return address === undefined ? [] : [address];
}
