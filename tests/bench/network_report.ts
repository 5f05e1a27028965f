import type { OutgoingTiming } from "./outgoing.ts";
import type { ServiceTiming } from "./serving.ts";
import { table } from "./table.ts";
import { judge } from "./target.ts";

/** The part of the page about services. The first service is what the others are compared with. */
export function writeServing(services: readonly ServiceTiming[]): string {
  const [plain] = services;
  const sections = plain!.loads.map(({ connections }, load) => {
    const rows = services.map(({ name, loads }) => {
      const { requestsPerSecond, p50Ms, p99Ms } = loads[load]!;
      const ratio = plain!.loads[load]!.requestsPerSecond / requestsPerSecond;
      return [name, requestsPerSecond.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(2), ratio.toFixed(1)];
    });
    const head = `${connections} connection${connections === 1 ? "" : "s"}`;
    return table([head, "requests/s", "p50 ms", "p99 ms", "× slower than alone"], rows);
  });
  const starts = services.map(({ name, startToFirstByteMs, firstRequestMs, warmFirstByteMs, warmTarget }) => [
    name,
    startToFirstByteMs.toFixed(0),
    firstRequestMs.toFixed(2),
    warmFirstByteMs.toFixed(2),
    warmTarget === undefined ? "" : `${judge(warmFirstByteMs, warmTarget)} ms`,
  ]);
  return `## A service

One short text, answered by guests to a client on the same machine, whose cores they share. \`hello-http\` is JavaScript with
its interpreter inside; \`smallest\` is a handful of instructions, so it shows what is the host's own. boll makes an
instance for each request, in a confined process; jco makes one or shares one (its default), in its own process.

${sections.join("\n\n")}

First bytes: from the start of the program (boll's component is in its cache; jco transpiles at each start), from the
first request once it listens, and from a later request over one connection: of boll that is a call into a cell that lives.

${table(["first byte", "start ms", "first request ms", "warm ms", "target"], starts)}`;
}

/** The part of the page about requests that a guest makes. */
export function writeOutgoing(timings: readonly OutgoingTiming[]): string {
  const rows = timings.map(({ parallel, guestPerSecond, fetchPerSecond }) => [
    `${parallel}`,
    guestPerSecond.toFixed(0),
    fetchPerSecond.toFixed(0),
    (fetchPerSecond / guestPerSecond).toFixed(1),
  ]);
  return `## Requests of a guest

A JavaScript guest through the gate against \`fetch\` alone, to the same server on this machine; each is the difference of
whole runs with many requests and with none. No target was set.

${table(["at once", "guest requests/s", "fetch requests/s", "× slower"], rows)}`;
}
