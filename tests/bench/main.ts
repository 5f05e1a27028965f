/**
 * `make bench`: measures boll against an empty compiled program, against Deno alone and against what others offer for
 * the same work, side by side in one run, prints the page and writes it to `docs/benchmarks.md`.
 *
 *     tests/bench/main.ts [--quick] [--only=PART[,PART…]]
 *
 * `--quick` measures too little to compare and shows that all of it works; `--only` measures those parts (`parts.ts`) alone.
 * With either, no page is written.
 * @module
 */
import { stop } from "esbuild";
import { join } from "@std/path";
import { timeAgents } from "./agents.ts";
import { timeDoors } from "./doors.ts";
import { timeFileOperations } from "./file_operations.ts";
import { timeFullHome } from "./full_home.ts";
import { describeMachine } from "./machine.ts";
import { timeOutgoing } from "./outgoing.ts";
import { type Part, PARTS, partsOf, programsFor } from "./parts.ts";
import { installPeers, type Peers } from "./peers.ts";
import { compilePrograms, type Programs } from "./programs.ts";
import { type Findings, writeReport } from "./report.ts";
import { timeServed } from "./served.ts";
import { servicesOf } from "./services.ts";
import { timeServices } from "./serving.ts";
import { measureTree, setUpTree } from "./sessions.ts";
import { startUpCandidates, type StartUpTiming } from "./start_up.ts";
import { interleave } from "./timing.ts";
import { timeTools } from "./tools.ts";
import type { TreePart } from "./tree/main.ts";
import type { TreeSetup } from "./tree/setup.ts";

const isQuick = Deno.args.includes("--quick");
const parts = partsOf(Deno.args);
const ROUNDS = isQuick
  ? {
    ...{ startUp: 1, operations: 1, outgoing: 1, serving: { starts: 1, bursts: 1, requests: 20 } },
    tree: { starts: 2, bursts: 1, roundTrips: 200, events: 1_000, crowds: [1, 3], results: 50 },
    home: { runs: 2, sessions: 100 },
    doors: { bursts: 1, messages: 20 },
    served: { messages: 2 },
    tools: { calls: 5, cells: 1 },
    agents: { runs: 1, turns: 4, crowd: 2 },
  }
  : {
    ...{ startUp: 20, operations: 10, outgoing: 5, serving: { starts: 5, bursts: 5, requests: 200 } },
    tree: { starts: 40, bursts: 5, roundTrips: 5_000, events: 100_000, crowds: [1, 8, 64], results: 10_000 },
    home: { runs: 20, sessions: 10_000 },
    doors: { bursts: 5, messages: 1_000 },
    served: { messages: 20 },
    tools: { calls: 200, cells: 10 },
    agents: { runs: 10, turns: 100, crowd: 20 },
  };

const root = join(import.meta.dirname!, "..", "..");
const scratch = Deno.makeTempDirSync({ prefix: "boll-bench-" });
try {
  const page = writeReport(await measure());
  console.log(page);
  if (!isQuick && parts.size === Object.keys(PARTS).length) await keep(page, join(root, "docs", "benchmarks.md"));
} finally {
  Deno.removeSync(scratch, { recursive: true });
}

async function measure(): Promise<Findings> {
  const programs = await note("compile", () => compilePrograms(root, scratch, programsFor(parts)));
  await stop();
  const peers = await findPeers();
  const services = await servicesOf(root, scratch, programs, peers);
  let setup: TreeSetup | undefined;
  const measureOf = async <P extends TreePart>(part: P) => {
    setup ??= await setUpTree(scratch, programs, ROUNDS.tree);
    return await measureTree(part, programs.tree, setup);
  };
  return {
    machine: describeMachine(),
    peers,
    ...await take("start-up", async () => ({ startUp: await timeStartUp(programs, peers) })),
    ...await take("operations", async () => ({
      operations: await timeFileOperations(scratch, programs, peers, ROUNDS.operations),
    })),
    ...await take("services", async () => ({ services: await timeServices(services, ROUNDS.serving) })),
    ...await take("outgoing", async () => ({
      outgoing: await timeOutgoing(scratch, programs, services[0]!, ROUNDS.outgoing),
    })),
    ...await take("doors", async () => ({
      doors: await timeDoors(programs, ROUNDS.doors),
      served: await timeServed(ROUNDS.served),
    })),
    ...await take("sessions", async () => ({ starts: await measureOf("starts") })),
    ...await take("crowds", async () => ({ crowds: await measureOf("crowds") })),
    ...await take("frames", async () => ({ frames: await measureOf("frames") })),
    ...await take("results", async () => ({ results: await measureOf("results") })),
    ...await take("tools", async () => ({ tools: await timeTools(ROUNDS.tools) })),
    ...await take("agents", async () => ({ agents: await timeAgents(programs, ROUNDS.agents) })),
    ...await take("home", async () => ({ fullHome: await timeFullHome(scratch, programs, ROUNDS.home) })),
  };
}

async function findPeers(): Promise<Peers> {
  if (!(["start-up", "operations", "services"] as const).some((part) => parts.has(part))) {
    return { kind: "absent", reason: "these parts have none" };
  }
  const peers = await note("install peers", () => installPeers(join(scratch, "peers")));
  if (peers.kind === "absent") console.error(`bench: no peers: ${peers.reason}`);
  return peers;
}

async function timeStartUp(programs: Programs, peers: Peers): Promise<StartUpTiming[]> {
  const candidates = await startUpCandidates(root, scratch, programs, peers);
  const timings = await interleave(candidates, ROUNDS.startUp);
  return timings.map((timing, index) => {
    const { target } = candidates[index]!;
    return target ? { ...timing, target } : timing;
  });
}

/** What a part finds, when it is wanted. */
async function take<T extends Partial<Findings>>(part: Part, work: () => Promise<T>): Promise<Partial<Findings>> {
  return parts.has(part) ? await note(part, work) : {};
}

/** Says how long a part took: the whole is minutes. */
async function note<T>(part: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  console.error(`bench: ${part}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  return result;
}

async function keep(page: string, target: string): Promise<void> {
  Deno.writeTextFileSync(target, page);
  await new Deno.Command(Deno.execPath(), { args: ["fmt", "--quiet", target] }).output();
}
