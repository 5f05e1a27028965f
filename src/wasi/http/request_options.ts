/** The timeouts of a request, milliseconds; absent is none. */
export interface Timeouts {
  readonly connectMs?: number;
  readonly firstByteMs?: number;
  readonly betweenBytesMs?: number;
}

const NANOSECONDS = 1_000_000n;
const LONGEST_MS = 2 ** 31 - 1;

/** The timeouts in a `request-options`; for this room alone. */
export let timeoutsOf: (options: RequestOptions) => Timeouts;

/** `request-options`: durations in nanoseconds. */
export class RequestOptions {
  #connect: bigint | undefined;
  #firstByte: bigint | undefined;
  #betweenBytes: bigint | undefined;

  static {
    timeoutsOf = (options) => ({
      ...inMs("connectMs", options.#connect),
      ...inMs("firstByteMs", options.#firstByte),
      ...inMs("betweenBytesMs", options.#betweenBytes),
    });
  }

  connectTimeout(): bigint | undefined {
    return this.#connect;
  }

  setConnectTimeout(duration: bigint | undefined): void {
    this.#connect = requireDuration(duration);
  }

  firstByteTimeout(): bigint | undefined {
    return this.#firstByte;
  }

  setFirstByteTimeout(duration: bigint | undefined): void {
    this.#firstByte = requireDuration(duration);
  }

  betweenBytesTimeout(): bigint | undefined {
    return this.#betweenBytes;
  }

  setBetweenBytesTimeout(duration: bigint | undefined): void {
    this.#betweenBytes = requireDuration(duration);
  }
}

function requireDuration(duration: bigint | undefined): bigint | undefined {
  if (duration === undefined || typeof duration === "bigint") return duration;
  throw new TypeError("Take a duration: found another type than u64");
}

function inMs<K extends keyof Timeouts>(name: K, duration: bigint | undefined): { [P in K]?: number } {
  if (duration === undefined) return {};
  const ms = (duration + NANOSECONDS - 1n) / NANOSECONDS;
  return { [name]: ms > BigInt(LONGEST_MS) ? LONGEST_MS : Number(ms) } as { [P in K]?: number };
}
