import { join } from "@std/path";
import { fixture } from "../fixtures/build.ts";
import type { Programs } from "./programs.ts";
import { type Service, startService } from "./service_process.ts";
import { type Candidate, differenceUs, interleave } from "./timing.ts";

/** Requests to one server on this machine, made by a guest through the gate and by `fetch` alone. */
export interface OutgoingTiming {
  /** Requests under way at once. */
  readonly parallel: number;
  readonly guestPerSecond: number;
  readonly fetchPerSecond: number;
}

const PARALLEL = [1, 16] as const;

/** Requests of one timed run, of whole groups of each size; large against the spread of a start. */
const COUNT = 960;

/** Times requests as a difference of whole commands, COUNT less none, so that starting costs nothing here. */
export async function timeOutgoing(
  scratch: string,
  programs: Programs,
  server: Service,
  rounds: number,
): Promise<OutgoingTiming[]> {
  await using running = await startService(server);
  const url = `http://127.0.0.1:${running.port}`;
  const guest = await fixture("http_probe");
  const results: OutgoingTiming[] = [];
  for (const parallel of PARALLEL) {
    const candidates: Candidate[] = [];
    for (const count of [0, COUNT]) {
      candidates.push({
        name: `guest, ${count} requests, ${parallel} at once`,
        program: programs.boll,
        args: [
          "run",
          "--quiet",
          "--accept",
          "--containment",
          "scoped",
          "--net",
          url,
          guest,
          "--",
          source(url, count, parallel),
        ],
        env: { BOLL_HOME: join(scratch, "home") },
      });
      candidates.push({
        name: `fetch, ${count} requests, ${parallel} at once`,
        program: programs.plainRequests,
        args: [url, `${count}`, `${parallel}`],
      });
    }
    const [guestNone, fetchNone, guestAll, fetchAll] = await interleave(candidates, rounds);
    results.push({
      parallel,
      guestPerSecond: 1e6 / differenceUs(guestNone!, guestAll!, COUNT),
      fetchPerSecond: 1e6 / differenceUs(fetchNone!, fetchAll!, COUNT),
    });
  }
  return results;
}

/** What the probe evaluates: groups of requests, each body read. Anything but a whole answer traps. */
function source(url: string, count: number, parallel: number): string {
  return `
    for (let left = ${count}; left > 0; left -= ${parallel}) {
      const futures = Array.from({ length: ${parallel} }, () => start("${url}/"));
      for (const future of futures) {
        const response = receive(future);
        const { status, bytes } = readResponse(response);
        response[Symbol.dispose]();
        if (status !== 200 || bytes === 0) throw new Error("found status " + status);
      }
    }
    return "done"`;
}
