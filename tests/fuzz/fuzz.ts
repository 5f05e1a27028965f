/**
 * The bed of the fuzz set: one test for each target, seeds fixed so that a red run is red again, and nets against what
 * never ends or eats all memory.
 *
 * `BOLL_FUZZ_SEED` is another seed, `BOLL_FUZZ_RUNS` multiplies the cases of every target; `make fuzz` sets both. What
 * fails is printed shrunk, with its seed; it belongs into `cases/` then.
 * @module
 */
import fc from "fast-check";
import { errorCodeOf } from "../../src/base/mod.ts";

/** The seed that everybody has who chose none. */
const DEFAULT_SEED = 20_261_130;
/** One case may take no longer, ms: a net, far above what any takes. */
const SLOW_CASE_MS = 90_000;
/** One case may leave no more behind, bytes of resident memory. */
const HEAVY_CASE_BYTES = 1.5 * 1024 ** 3;

/** What is tried, how often, and what must hold. */
export interface Target<Input> {
  readonly input: fc.Arbitrary<Input>;
  /** Cases of an ordinary run. */
  readonly runs: number;
  /** What once failed, tried first. */
  readonly kept?: readonly Input[];
  /** Each case starts processes: what fails is printed as it is, not made smaller by hundreds of tries. */
  readonly costly?: boolean;
  /** Throws at what must never be. */
  check(input: Input): void | Promise<void>;
}

/** The seed of this run. */
export function fuzzSeed(): number {
  return numberOf("BOLL_FUZZ_SEED", DEFAULT_SEED);
}

/** How often the cases of an ordinary run are tried. */
export function fuzzFactor(): number {
  return numberOf("BOLL_FUZZ_RUNS", 1);
}

/** Registers the target as one test. */
export function fuzz<Input>(name: string, { input, runs, kept = [], costly = false, check }: Target<Input>): void {
  Deno.test(`fuzz: ${name}`, async () => {
    using watch = new Watch(name);
    const property = fc.asyncProperty(input, async (value) => {
      watch.begin();
      await check(value);
      watch.end();
    });
    await fc.assert(property, {
      seed: fuzzSeed(),
      numRuns: kept.length + Math.ceil(runs * fuzzFactor()),
      examples: kept.map((value): [Input] => [value]),
      includeErrorInReport: true,
      endOnFailure: costly,
    });
  });
}

/**
 * What the call refused, undefined when it did not refuse.
 * @throws whatever else than a refusal of this project it threw, and a refusal that is not fit to be read
 */
export function refusalOf(call: () => unknown): Error | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return readable(error);
  }
}

/** As {@link refusalOf}, for what takes its time. */
export async function lateRefusalOf(call: () => Promise<unknown>): Promise<Error | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return readable(error);
  }
}

/** A refusal with a code, whose every line a terminal may print. */
function readable(error: unknown): Error {
  if (errorCodeOf(error) === undefined) throw new Error(`not a refusal: ${error}`, { cause: error });
  const { message, problems } = error as Error & { problems: readonly string[] };
  for (const line of [message, ...problems]) {
    if (line.length > 4096) throw new Error(`a message of ${line.length} characters: ${line.slice(0, 200)}`);
    // deno-lint-ignore no-control-regex
    if (/[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/.test(line) || /\bat .*\.(ts|js):\d+:\d+/.test(line)) {
      throw new Error(`a message not fit for a terminal: ${JSON.stringify(line)}`);
    }
  }
  return error as Error;
}

/** Ends the process, naming the target, when one case never ends; fails a case that was slow or heavy. */
class Watch implements Disposable {
  readonly #worker: Worker;
  readonly #cases = new Int32Array(new SharedArrayBuffer(4));
  #startedMs = 0;
  #memoryBytes = 0;

  constructor(name: string) {
    this.#worker = new Worker(new URL("./watch_worker.ts", import.meta.url), { type: "module" });
    this.#worker.postMessage({ name, seed: fuzzSeed(), cases: this.#cases });
  }

  begin(): void {
    Atomics.add(this.#cases, 0, 1);
    this.#startedMs = performance.now();
    this.#memoryBytes = Deno.memoryUsage().rss;
  }

  end(): void {
    const took = performance.now() - this.#startedMs;
    if (took > SLOW_CASE_MS) throw new Error(`one case took ${Math.round(took)} ms`);
    const grown = Deno.memoryUsage().rss - this.#memoryBytes;
    if (grown > HEAVY_CASE_BYTES) throw new Error(`one case left ${Math.round(grown / 2 ** 20)} MiB behind`);
  }

  [Symbol.dispose](): void {
    this.#worker.terminate();
  }
}

function numberOf(variable: string, otherwise: number): number {
  const text = Deno.env.get(variable) ?? "";
  if (text === "") return otherwise;
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new TypeError(`Read ${variable}: found "${text}", wanted a number`);
  return value;
}
