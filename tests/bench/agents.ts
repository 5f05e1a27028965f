import { Bed } from "../harness.ts";
import { AgentWorkspace, callOf } from "../process/agent_workspace.ts";
import { processesOf } from "../process/leftovers.ts";
import { environmentOf } from "../processes.ts";
import { memoryOf, sumOf } from "./memory.ts";
import type { Programs } from "./programs.ts";
import { type Candidate, interleave, type Timing } from "./timing.ts";

/** What an agent costs beside its model, which is a playbook that answers at once. */
export interface AgentsResult {
  /** Whole runs of `boll run AGENT`; the first is the empty compiled program. */
  readonly runs: readonly Timing[];
  /** One more round whose call is answered by the loop itself, ms. */
  readonly turnMs: number;
  /** What a round takes more when its call is one of a component tool, ms. */
  readonly callMs: number;
  readonly crowd: AgentCrowd;
}

/** So many agents at once, each a run of its own, that wait for their model. */
export interface AgentCrowd {
  readonly count: number;
  /** From the start of a run until its agent has asked its model, when it is alone, ms. */
  readonly oneMs: number;
  /** Until all of them have, ms. */
  readonly allMs: number;
  /** Until all runs have ended, once all were answered, ms. */
  readonly wholeMs: number;
  /** The memory of all sessions together while they wait (PSS), bytes. */
  readonly sessionBytes: number;
  /** Of their supervisors. */
  readonly supervisorBytes: number;
  /** Of as many idle compiled programs. */
  readonly idleBytes: number;
}

/** How much is measured. */
export interface AgentRounds {
  readonly runs: number;
  /** Rounds of the long runs. */
  readonly turns: number;
  readonly crowd: number;
}

const USAGE = { input_tokens: 1, output_tokens: 1 };
const ANSWER = { text: "done", usage: USAGE };
const ANSWER_EVENTS = `data: ${
  JSON.stringify({
    ...{ id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
    choices: [{ index: 0, delta: { content: "done" }, finish_reason: "stop" }],
  })
}\n\ndata: [DONE]\n\n`;

/** Times whole runs against an empty program, rounds and calls by their difference, and a crowd of children. */
export async function timeAgents(programs: Programs, { runs, turns, crowd }: AgentRounds): Promise<AgentsResult> {
  await using bed = new Bed("binary");
  const workspace = await writeAgents(bed, turns);
  const agent = (name: string, agent: string): Candidate => {
    const [program = "", ...args] = bed.command(workspace.command(agent, "go"));
    return { name, program, args, env: bed.environment() };
  };
  const timings = await interleave([
    { name: "empty compiled program", program: programs.empty, args: [] },
    agent("an agent that answers at once", "plain"),
    agent(`the same after ${turns} rounds`, "rounds"),
    agent("an agent with a tool that it does not call", "able"),
    agent(`the same after ${turns} calls of it`, "calls"),
    agent("an agent that delegates to the first, and waits", "lead"),
  ], runs);
  const [, plain, rounds, able, calls] = timings.map(({ medianMs }) => medianMs);
  const turnMs = (rounds! - plain!) / turns;
  return {
    runs: timings,
    turnMs,
    callMs: (calls! - able!) / turns - turnMs,
    crowd: {
      count: crowd,
      oneMs: (await runCrowd(bed, workspace, 1)).allMs,
      ...await runCrowd(bed, workspace, crowd),
      idleBytes: await measureIdle(programs.idle, crowd),
    },
  };
}

async function writeAgents(bed: Bed, turns: number): Promise<AgentWorkspace> {
  const workspace = new AgentWorkspace(bed);
  const inference = { max_turns: 500 };
  const many = (name: string) =>
    Array.from({ length: turns }, (_, at) => ({ ...callOf(name, { do: "echo", text: `${at}` }), usage: USAGE }));
  const tools = { probe: undefined };
  await workspace.agent("plain", { turns: [ANSWER] });
  await workspace.agent("rounds", { turns: [...many("nothing"), ANSWER], inference });
  await workspace.agent("able", { turns: [ANSWER], tools });
  await workspace.agent("calls", { turns: [...many("probe"), ANSWER], tools, inference });
  await workspace.agent("lead", {
    turns: [callOf("delegate-task", { capsule: "plain", task: "go" }), { text: "I wait" }, ANSWER],
    grants: { spawn: ["plain"] },
  });
  await workspace.lock();
  return workspace;
}

/** Starts so many runs; the model of all of them answers when the last has asked. */
async function runCrowd(bed: Bed, workspace: AgentWorkspace, count: number) {
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let left = count;
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    await request.body?.cancel();
    if (--left === 0) asked.resolve();
    await answered.promise;
    return new Response(ANSWER_EVENTS, { headers: { "content-type": "text/event-stream" } });
  });
  const uri = `http://127.0.0.1:${server.addr.port}/v1`;
  await workspace.agent("waiting", { inference: { uri, model: "m" } });
  const startedAt = performance.now();
  const runs = Array.from({ length: count }, () => workspace.start("waiting", "go"));
  await Promise.race([asked.promise, ...runs.map(({ child }) => child.status)]);
  const allMs = performance.now() - startedAt;
  const sessions = processesOf(bed).filter((pid) => environmentOf(pid)["BOLL_CHILD"] === "session");
  const memory = { sessionBytes: sumOf(sessions), supervisorBytes: sumOf(runs.map(({ child }) => child.pid)) };
  const answeredAt = performance.now();
  answered.resolve();
  for (const run of runs) {
    const { code, stderr } = await run.result();
    if (code !== 0) throw new Error(`Run ${count} agents: found exit ${code}: ${stderr}`);
  }
  return { allMs, wholeMs: allMs + performance.now() - answeredAt, ...memory };
}

async function measureIdle(program: string, count: number): Promise<number> {
  const options = { clearEnv: true, stdin: "null", stdout: "piped", stderr: "null" } as const;
  const children = Array.from({ length: count }, () => new Deno.Command(program, options).spawn());
  try {
    for (const { stdout } of children) {
      const reader = stdout.getReader();
      await reader.read();
      reader.releaseLock();
    }
    return children.reduce((sum, { pid }) => sum + memoryOf(pid), 0);
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map((child) => child.output().catch(() => {})));
  }
}
