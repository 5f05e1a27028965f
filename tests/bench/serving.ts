import { type LoadResult, send } from "./load.ts";
import { type RunningService, type Service, startService } from "./service_process.ts";
import type { Target } from "./target.ts";
import { percentile } from "./timing.ts";

/** How a service answered over so many connections. */
export interface ServingTiming {
  readonly connections: number;
  /** The median of the bursts. */
  readonly requestsPerSecond: number;
  /** Of all requests of all bursts, to the last byte. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** All that was measured of a service; medians, ms. */
export interface ServiceTiming {
  readonly name: string;
  /** From the start of the program to the first byte of its first answer; its component is in its cache, if it has one. */
  readonly startToFirstByteMs: number;
  /** From the sending of the first request, once it listens. */
  readonly firstRequestMs: number;
  /** The same of a later request, over one connection. */
  readonly warmFirstByteMs: number;
  readonly warmTarget?: Target;
  readonly loads: readonly ServingTiming[];
}

/** One connection, and more than there are cores. */
const CONNECTIONS = [1, 16] as const;

/** How much is measured. */
export interface ServingRounds {
  /** Starts of each service. */
  readonly starts: number;
  readonly bursts: number;
  /** Requests of one burst over one connection; more connections send four times as many. */
  readonly requests: number;
}

/** Starts and loads the services in turn, A B C A B C …; one round of each is not counted. */
export async function timeServices(services: readonly Service[], rounds: ServingRounds): Promise<ServiceTiming[]> {
  const starts = await timeStarts(services, rounds.starts);
  await using running = new AsyncDisposableStack();
  const started: RunningService[] = [];
  for (const service of services) started.push(running.use(await startService(service)));
  const bursts = await timeBursts(started, rounds);
  return services.map(({ name, warmTarget }, index) => ({
    name,
    ...(warmTarget === undefined ? {} : { warmTarget }),
    startToFirstByteMs: percentile(starts[index]!.map(({ startToFirstByteMs }) => startToFirstByteMs), 50),
    firstRequestMs: percentile(starts[index]!.map(({ firstRequestMs }) => firstRequestMs), 50),
    warmFirstByteMs: percentile(bursts[index]![0]!.flatMap(({ firstByteMs }) => firstByteMs), 50),
    loads: CONNECTIONS.map((connections, load) => summarizeBursts(connections, bursts[index]![load]!)),
  }));
}

/** Rate and percentiles of bursts of one kind. */
export function summarizeBursts(connections: number, bursts: readonly LoadResult[]): ServingTiming {
  const whole = bursts.flatMap(({ wholeMs }) => wholeMs);
  return {
    connections,
    requestsPerSecond: percentile(bursts.map(({ wholeMs, elapsedMs }) => wholeMs.length * 1000 / elapsedMs), 50),
    p50Ms: percentile(whole, 50),
    p99Ms: percentile(whole, 99),
  };
}

interface Start {
  readonly startToFirstByteMs: number;
  readonly firstRequestMs: number;
}

async function timeStarts(services: readonly Service[], rounds: number): Promise<Start[][]> {
  const starts = services.map((): Start[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [index, service] of services.entries()) {
      const startedAt = performance.now();
      await using running = await startService(service);
      const listeningAt = performance.now();
      const { firstByteMs } = await send({ port: running.port, connections: 1, requests: 1 });
      const start = {
        startToFirstByteMs: listeningAt - startedAt + firstByteMs[0]!,
        firstRequestMs: firstByteMs[0]!,
      };
      if (round >= 0) starts[index]!.push(start);
    }
  }
  return starts;
}

/** Of each service, for each number of connections, the bursts. */
async function timeBursts(services: readonly RunningService[], rounds: ServingRounds): Promise<LoadResult[][][]> {
  const results = services.map(() => CONNECTIONS.map((): LoadResult[] => []));
  for (let round = -1; round < rounds.bursts; round++) {
    for (const [load, connections] of CONNECTIONS.entries()) {
      for (const [index, { port }] of services.entries()) {
        const requests = connections === 1 ? rounds.requests : 4 * rounds.requests;
        const result = await send({ port, connections, requests });
        if (round >= 0) results[index]![load]!.push(result);
      }
    }
  }
  return results;
}
