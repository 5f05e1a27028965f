import { Bed } from "../harness.ts";
import { serve, type Served, servedProbe } from "../process/served.ts";
import { warmGuest } from "../warm_cache.ts";
import { percentile } from "./timing.ts";

/** What a message to `boll serve` costs, whose task is next to nothing; medians, ms. */
export interface ServedTiming {
  readonly name: string;
  /** The cell of the next task stands already. */
  readonly spareMs: number;
  /** Right behind the one before: its cell has only been started. */
  readonly atOnceMs: number;
  /** Of many that wait, each. */
  readonly queuedMs: number;
}

/** How much is measured. */
export interface ServedRounds {
  readonly messages: number;
}

/** Long enough for a cell to stand, ms. */
const PAUSE_MS = 1_000;

/** `dist/boll serve` of the smallest guest and of one in JavaScript, from a message to its task, whole. */
export async function timeServed({ messages }: ServedRounds): Promise<ServedTiming[]> {
  await using bed = new Bed("binary");
  const guests = [
    { name: "the smallest guest", capsule: await warmGuest(bed, "cat"), text: "hello" },
    { name: "JavaScript, 1 MB, work folder", capsule: await servedProbe(bed), text: "1 + 1" },
  ];
  const timings: ServedTiming[] = [];
  for (const { name, capsule, text } of guests) {
    const served = await serve(bed, { capsule, safetyNetMs: 3_600_000 });
    const [spare, atOnce]: number[][] = [[], []];
    for (let sent = -1; sent < messages; sent++) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      const times = [await timeMessage(served, text), await timeMessage(served, text)] as const;
      if (sent >= 0) [spare!.push(times[0]), atOnce!.push(times[1])];
    }
    const queuedMs = await timeQueue(served, text, messages);
    timings.push({ name, spareMs: percentile(spare!, 50), atOnceMs: percentile(atOnce!, 50), queuedMs });
    await served.stop();
  }
  return timings;
}

async function timeMessage(served: Served, text: string): Promise<number> {
  const sentAt = performance.now();
  const { status } = await served.send(text);
  if (status.state !== "TASK_STATE_COMPLETED") throw new Error(`Time a message: found ${JSON.stringify(status)}`);
  return performance.now() - sentAt;
}

async function timeQueue(served: Served, text: string, count: number): Promise<number> {
  const sentAt = performance.now();
  await Promise.all(Array.from({ length: count }, () => timeMessage(served, text)));
  return (performance.now() - sentAt) / count;
}
