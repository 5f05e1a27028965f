import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import type { Bed, RunningBoll, TraceEvent } from "../harness.ts";
import { fixture } from "../harness.ts";
import { assertNothingLeft } from "../process/leftovers.ts";
import { childrenOf } from "../processes.ts";

/** A service under test: `boll serve-http` on a port of its own. */
export interface Service {
  readonly running: RunningBoll;
  readonly url: string;
  readonly port: number;
  /** The pids of its cells. */
  cells(): number[];
}

/** Starts a service of the guest `served_probe` (or the capsule at `path`) and comes back when it listens. */
export async function startService(bed: Bed, flags: readonly string[] = [], path?: string): Promise<Service> {
  const capsule = path ?? await fixture("served_probe");
  const running = bed.start(["serve-http", capsule, "--listen", "0", ...flags]);
  const text = await running.stdout.waitFor("\n").catch(async (error) => {
    throw new Error(`${error.message}; stderr: ${(await running.result()).stderr}`);
  });
  const url = /http:\/\/\S+?:\d+/.exec(text)![0];
  return { running, url, port: Number(new URL(url).port), cells: () => childrenOf(running.child.pid) };
}

/** Runs a service while `use` asks it, with a client whose connections are gone with it; nothing may be left of either. */
export async function withService(
  bed: Bed,
  flags: readonly string[],
  use: (service: Service, get: (path: string, init?: RequestInit) => Promise<Response>) => Promise<void>,
  path?: string,
): Promise<void> {
  const service = await startService(bed, flags, path);
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  await use(service, (path, init = {}) => fetch(`${service.url}${path}`, { ...init, client }));
  assertEquals(await stopService(service), 0);
  assertNothingLeft(bed);
}

/** Ends a service as a person would, and gives its exit status. */
export async function stopService({ running }: Service): Promise<number> {
  running.child.kill("SIGTERM");
  return (await running.result()).code;
}

/** Waits until the newest session's trace holds an event that `matches`, and gives it. */
export async function waitForEvent(bed: Bed, matches: (event: TraceEvent) => boolean): Promise<TraceEvent> {
  for (;;) {
    const found = bed.trace().find(matches);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until the newest session's trace holds so many events that `matches`. */
export async function waitForEvents(bed: Bed, matches: (event: TraceEvent) => boolean, count: number): Promise<void> {
  while (bed.trace().filter(matches).length < count) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Waits until a guest has written `marker` so many times. */
export async function waitForLog(bed: Bed, marker: string, times = 1): Promise<void> {
  const path = join(bed.sessions().at(-1)!, "runtime", "logs", "guest.jsonl");
  while (readIfThere(path).split(marker).length <= times) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Sends bytes as they are and gives all that comes back until the other side closes. */
export async function sendRaw(port: number, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(text));
  const decoder = new TextDecoder("latin1");
  let answer = "";
  const buffer = new Uint8Array(65_536);
  for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
    answer += decoder.decode(buffer.subarray(0, count));
  }
  return answer;
}

function readIfThere(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}
