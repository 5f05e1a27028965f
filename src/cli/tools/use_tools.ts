import { printable, printableJson, printableLine } from "../../base/mod.ts";
import type { AgentCapsule } from "../../manifest/mod.ts";
import { makeTemporaryFolder, writePlan } from "../../records/mod.ts";
import {
  type CeilingPlaces,
  collectOrphans,
  deadlinePassed,
  interrupted,
  makePlan,
  openHull,
  type Outcome,
  supervisorRules,
  terminated,
} from "../../session/mod.ts";
import {
  type ComponentTool,
  type InputQuestion,
  ToolCells,
  type ToolCellsOptions,
  type ToolFailure,
  type ToolNeeds,
  type ToolResult,
} from "../../session/tools/mod.ts";
import { BUILD_INFO } from "../about/build_info.ts";
import { buildTools, type BuiltTools, checkTools } from "./build_tools.ts";
import type { DelegatingRun } from "../tree/delegating_run.ts";
import { Denials } from "../run/denials.ts";
import type { Interrupts } from "../run/launch.ts";
import { type LaterTree, RunTree } from "../tree/run_tree.ts";
import type { RecordedEnding, SessionRecord } from "../run/session_record.ts";
import { STOP_REASON } from "../tree/stop_reason.ts";
import type { Context } from "../verb.ts";

/** One call: a tool by its name, and its input as JSON text. */
export interface WantedCall {
  readonly name: string;
  readonly input: string;
}

type Record = SessionRecord<AgentCapsule>;

/**
 * Builds what is missing, writes the plan, starts the cells of an agent's tools in the foreground, and calls one of them,
 * or lists them all.
 *
 * @throws `component.*`, `grant.import_not_granted`, `tool.*`, `hull.*`, `cell.start_failed`
 */
export async function useTools(
  record: Record,
  wanted: WantedCall | undefined,
  interrupts: Interrupts,
): Promise<RecordedEnding> {
  const stopped = new AbortController();
  await using tree = RunTree.later({ record, stop: () => stopped.abort(STOP_REASON) });
  const ending = AbortSignal.any([interrupts.first, interrupts.second, stopped.signal]);
  try {
    const outcome = await useIn(record, wanted, { tree, ending, killing: interrupts.second });
    return { outcome: outcome.ended_by === "interrupted" && stopped.signal.aborted ? terminated() : outcome };
  } catch (error) {
    if (!ending.aborted) throw error;
    return { outcome: stopped.signal.aborted ? terminated() : interrupted() };
  }
}

interface Control {
  readonly tree: LaterTree;
  /** Aborts when the work is to end. */
  readonly ending: AbortSignal;
  readonly killing: AbortSignal;
}

async function useIn(record: Record, wanted: WantedCall | undefined, control: Control): Promise<Outcome> {
  const { resolved, context, trace, args } = record;
  const wantedTools = resolved.capsule.tools.filter(({ name }) => wanted === undefined || name === wanted.name);
  if (wantedTools.length === 0) {
    if (args.has("json")) context.stdout.write("[]\n");
    else context.stderr.write(`boll: ${printableLine(resolved.capsule.name)} has no tools\n`);
    return COMPLETED;
  }
  const hull = openHull();
  using _orphans = collectOrphans();
  // What is not called is neither built nor started.
  const capsule = { ...resolved.capsule, tools: wantedTools };
  using built = await build(record, capsule, control);
  const denials = new Denials(resolved.capsule, trace);
  await using delegating = await openDelegating(record, control);
  if (delegating !== undefined) control.tree.grow(delegating.tree);
  await using cells = await ToolCells.open({
    ...optionsOf(record, capsule, built),
    ...heardAt(record),
    ...(delegating === undefined ? {} : { delegator: delegating.run.delegator }),
    onDenied: (denied) => denials.note(denied),
    confine: (needs) => hull?.confine(rulesOf(record, needs, delegating?.run.ceiling)),
  });
  delegating?.run.onReady();
  control.tree.started();
  const outcome = wanted === undefined ? list(cells.tools, record) : await call(cells, wanted, record, control.ending);
  if (!args.has("quiet") && !args.has("json")) denials.print(context);
  return outcome;
}

const COMPLETED: Outcome = { status: "completed", exit_code: 0, ended_by: "guest" };

async function build(record: Record, capsule: AgentCapsule, { ending, tree }: Control): Promise<BuiltTools> {
  const { resolved: { home, grants: { grants } }, digests, kernel, trace } = record;
  tree.open();
  const built = await buildTools({
    capsule,
    digests,
    limits: grants.limits,
    cacheRoot: home.cache,
    hull: kernel.landlock && kernel.seccomp,
    interrupt: ending,
    onMismatch: (key, detail) => trace.append("cache_mismatch", { key, detail }),
  });
  try {
    checkTools(capsule, built.tools, grants);
    writePlan(record.places, planOf(record, built));
    return built;
  } catch (error) {
    built[Symbol.dispose]();
    throw error;
  }
}

function planOf({ places, identity, digests, resolved, containment }: Record, { tools }: BuiltTools) {
  return makePlan({
    session_id: places.id,
    boll_version: BUILD_INFO.version,
    capsule: { ...identity, digest: digests.capsule },
    tools,
    grants: resolved.grants.grants,
    args: [],
    work: places.work,
    containment,
  });
}

function optionsOf(record: Record, capsule: AgentCapsule, { tools }: BuiltTools): ToolCellsOptions {
  const { resolved: { grants, upstream }, containment, kernel, places, trace } = record;
  return {
    grants: grants.grants,
    containment,
    tools: capsule.tools.map(({ name, grants: block }) => ({
      name,
      component: tools[name]!,
      ...(block === undefined ? {} : { grants: block }),
    })),
    envValues: grants.envValues,
    places,
    kernel,
    trace,
    upstream,
  };
}

/** What a tool says while it works goes to stderr, and a question to whoever sits there. */
function heardAt({ args, context }: Record): Pick<ToolCellsOptions, "onLog" | "onEmit" | "requestInput"> {
  const say = (text: string) => context.stderr.write(`${printableLine(text, 8_300)}\n`);
  const { readAnswer } = context;
  return {
    ...(args.has("quiet") || args.has("json") ? {} : {
      onLog: ({ tool, level, text }) => say(`${tool}: ${level}: ${text}`),
      onEmit: ({ tool, text }) => say(`${tool}: ${text}`),
    }),
    ...(readAnswer === undefined ? {} : {
      requestInput: ({ tool, question }: InputQuestion) => {
        // On one line: none of its words stands where boll's own would.
        context.stderr.write(`${tool} asks: ${printableLine(question, 4_096)}\n> `);
        return Promise.resolve({ text: readAnswer() });
      },
    }),
  };
}

/** The code of delegations is loaded only by a run that may delegate. */
async function openDelegating(record: Record, { ending, killing, tree }: Control): Promise<DelegatingRun | undefined> {
  if (record.resolved.grants.grants.spawn.length === 0) return undefined;
  const { DelegatingRun } = await import("../tree/delegating_run.ts");
  return await DelegatingRun.open(record, {
    ending,
    killing,
    onStart: (places) => tree.add(places),
    onEnd: (places) => tree.remove(places),
  });
}

function rulesOf({ resolved, places }: Record, { caches, networks }: ToolNeeds, ceiling: CeilingPlaces | undefined) {
  const { grants } = resolved.grants;
  // The folder in which every cell's own folder is made.
  using tmp = makeTemporaryFolder();
  const [first] = networks;
  return supervisorRules(grants, {
    cache: caches,
    tmp: tmp.path,
    session: places.root,
    ...(grants.fs.work === undefined ? {} : { work: places.work }),
    ...(first === undefined ? {} : { network: { ...first, gatePort: networks.map(({ gatePort }) => gatePort) } }),
    ...(ceiling === undefined ? {} : { ceiling }),
  }, false);
}

function list(tools: readonly ComponentTool[], { args, context }: Record): Outcome {
  if (args.has("json")) {
    const told = tools.map(({ name, description, inputSchema: input_schema, mutates }) => ({
      ...{ name, description, mutates, input_schema },
    }));
    context.stdout.write(`${printableJson(told, 2)}\n`);
    return COMPLETED;
  }
  for (const { name, description, inputSchema, mutates } of tools) {
    context.stdout.write(`${name}${mutates ? " (changes something)" : ""}\n  ${printableLine(description)}\n`);
    context.stdout.write(`  ${printableJson(inputSchema)}\n`);
  }
  return COMPLETED;
}

async function call(
  cells: ToolCells,
  { name, input }: WantedCall,
  { args, context, resolved }: Record,
  signal: AbortSignal,
): Promise<Outcome> {
  const { deadline_ms } = resolved.grants.grants.limits;
  const result = await cells.call(name, input, { signal, deadlineMs: deadline_ms });
  if (result.isError) {
    const { failure, content } = result;
    if (failure === undefined && !args.has("json")) {
      context.stderr.write(`boll: ${name} answers with an error: ${printableLine(content, 4_000)}\n`);
    }
    return failureOutcome(result);
  }
  print(result.content, context);
  return COMPLETED;
}

/** Exact where a program reads it, safe where a person does. */
function print(content: string, { stdout }: Context): void {
  const text = stdout.isTerminal ? printable(content) : content;
  stdout.write(stdout.isTerminal && !text.endsWith("\n") ? `${text}\n` : text);
}

const ENDINGS: Readonly<{ [failure in ToolFailure]: Pick<Outcome, "exit_code" | "ended_by" | "status"> }> = {
  trap: { status: "failed", exit_code: 1, ended_by: "trap" },
  exit: { status: "failed", exit_code: 1, ended_by: "trap" },
  limit: { status: "failed", exit_code: 8, ended_by: "output" },
  memory: { status: "failed", exit_code: 8, ended_by: "memory" },
  no_answer: { status: "failed", exit_code: 1, ended_by: "trap" },
  timeout: deadlinePassed(),
  cancelled: interrupted(),
  interrupted: { status: "crashed", exit_code: 1, ended_by: "crashed" },
  too_large: { status: "refused", exit_code: 2, ended_by: "refused" },
  unavailable: { status: "crashed", exit_code: 1, ended_by: "crashed" },
};

/** An error that the tool answered is its own word; any other ending has its own name. */
function failureOutcome({ content, failure }: ToolResult): Outcome {
  const detail = printableLine(content, 1_000);
  if (failure === undefined) return { status: "failed", exit_code: 1, ended_by: "guest", detail };
  const { status, exit_code, ended_by } = ENDINGS[failure];
  const isCpu = failure === "limit" && content.endsWith(": cpu");
  return { status, exit_code, ended_by: isCpu ? "cpu" : ended_by, detail };
}
