/**
 * `make bench`: measures boll against an empty compiled program, against Deno alone and against what others offer for
 * the same work, side by side in one run, prints the page and writes it to `docs/benchmarks.md`.
 *
 * `--quick` measures too little to compare, shows that all of it works, and writes no page. `--only=PART` measures one
 * part, and writes no page either.
 * @module
 */
import { stop } from "esbuild";
import { join } from "@std/path";
import { timeFileOperations } from "./file_operations.ts";
import { describeMachine } from "./machine.ts";
import { timeOutgoing } from "./outgoing.ts";
import { installPeers, type Peers } from "./peers.ts";
import { compilePrograms, type Programs } from "./programs.ts";
import { type Findings, writeReport } from "./report.ts";
import { servicesOf } from "./services.ts";
import { timeServices } from "./serving.ts";
import { startUpCandidates, type StartUpTiming } from "./start_up.ts";
import { interleave } from "./timing.ts";

const PARTS = ["start-up", "operations", "services", "outgoing"] as const;
type Part = typeof PARTS[number];

const isQuick = Deno.args.includes("--quick");
const only = readPart();
const ROUNDS = isQuick
  ? { startUp: 1, operations: 1, outgoing: 1, serving: { starts: 1, bursts: 1, requests: 20 } }
  : { startUp: 20, operations: 10, outgoing: 5, serving: { starts: 5, bursts: 5, requests: 200 } };

const root = join(import.meta.dirname!, "..", "..");
const scratch = Deno.makeTempDirSync({ prefix: "boll-bench-" });
try {
  const page = writeReport(await measure());
  console.log(page);
  if (!isQuick && only === undefined) await keep(page, join(root, "docs", "benchmarks.md"));
} finally {
  Deno.removeSync(scratch, { recursive: true });
}

async function measure(): Promise<Findings> {
  const programs = await note("compile", () => compilePrograms(root, scratch));
  await stop();
  const peers = await note("install peers", () => installPeers(join(scratch, "peers")));
  if (peers.kind === "absent") console.error(`bench: no peers: ${peers.reason}`);
  const findings = { machine: describeMachine(), peers };
  const startUp = await part("start-up", () => timeStartUp(programs, peers));
  const operations = await part("operations", () => timeFileOperations(scratch, programs, peers, ROUNDS.operations));
  const all = await servicesOf(root, scratch, programs, peers);
  const services = await part("services", () => timeServices(all, ROUNDS.serving));
  const outgoing = await part("outgoing", () => timeOutgoing(scratch, programs, all[0]!, ROUNDS.outgoing));
  return {
    ...findings,
    ...(startUp && { startUp }),
    ...(operations && { operations }),
    ...(services && { services }),
    ...(outgoing && { outgoing }),
  };
}

async function timeStartUp(programs: Programs, peers: Peers): Promise<StartUpTiming[]> {
  const candidates = await startUpCandidates(root, scratch, programs, peers);
  const timings = await interleave(candidates, ROUNDS.startUp);
  return timings.map((timing, index) => {
    const { target } = candidates[index]!;
    return target ? { ...timing, target } : timing;
  });
}

/** What `work` gives, unless another part alone was asked for. */
async function part<T>(name: Part, work: () => Promise<T>): Promise<T | undefined> {
  return only === undefined || only === name ? await note(name, work) : undefined;
}

function readPart(): Part | undefined {
  const asked = Deno.args.find((arg) => arg.startsWith("--only="))?.slice("--only=".length);
  if (asked === undefined) return undefined;
  const found = PARTS.find((name) => name === asked);
  if (found === undefined) throw new Error(`Read --only: found ${asked}, wanted one of ${PARTS.join(", ")}`);
  return found;
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
