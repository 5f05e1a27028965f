import { CapsuleError, printableLine } from "../../base/mod.ts";
import type { Grants, ResolvedModel } from "../../grants/mod.ts";
import { type AgentCapsule, type AgentDigests, type CapsuleDigests, isAgent, type Peer } from "../../manifest/mod.ts";
import type { Lock } from "../../package/mod.ts";
import {
  boundDeadline,
  type Intelligence,
  type Remote,
  SESSION_CEILINGS,
  type SessionLimits,
} from "../../protocol/control/mod.ts";
import {
  agentTask,
  commandTask,
  type LaunchPlan,
  type SessionRequest,
  type SessionTask,
  type TaskInput,
} from "../../session/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { buildTools, checkTools } from "../tools/build_tools.ts";
import { holdComponent } from "../run/held_component.ts";
import { readIntelligence, readPeers } from "./intelligence.ts";
import { guestArguments, type Interrupts } from "../run/launch.ts";
import { prepareComponent } from "../run/prepare_component.ts";
import { asCommand, type Resolved } from "../run/resolve_run.ts";
import type { SessionRecord } from "../run/session_record.ts";
import type { Context } from "../verb.ts";

/** A capsule that its operator agreed to start as the root of a tree. */
export interface Starting extends Pick<SessionRecord, "kernel"> {
  readonly resolved: Resolved;
  readonly digests: CapsuleDigests;
  /** An agent's. */
  readonly model?: ResolvedModel;
  /** The agents elsewhere that it may send to. */
  readonly peers: readonly Peer[];
  /** What its operator agreed that it may start. */
  readonly lock?: Lock | undefined;
  readonly args: Arguments;
  readonly context: Context;
  readonly interrupts: Interrupts;
  readonly containment: LaunchPlan["containment"];
}

/** What the root session of a tree runs: built, held in the cache, with its model. */
export interface RootCapsule extends Disposable {
  readonly parts: Pick<SessionRequest, "component" | "tools">;
  readonly intelligence?: Intelligence;
  /** An agent's, with what opens their doors. */
  readonly peers: readonly Remote[];
  readonly limits: SessionLimits;
  /** With a deadline that a session may have. */
  readonly grants: Grants;
  task(input: Omit<TaskInput, "name" | "limits" | "logContent">): SessionTask;
}

/** A command has no model. */
const COMMAND_STEPS = { max_steps: 1, max_tokens: 1 } as const;

/**
 * Builds what the root session runs, and reads what opens its model.
 * @throws `component.*`, `grant.import_not_granted`, `secret.unusable`
 */
export async function openRootCapsule(starting: Starting): Promise<RootCapsule> {
  const { resolved, args } = starting;
  const { capsule, grants: { grants } } = resolved;
  const deadline_ms = boundDeadline(grants.limits.deadline_ms);
  const bounded = { ...grants, limits: { ...grants.limits, deadline_ms } };
  const about = { name: capsule.name, logContent: capsule.manifest?.trace.capture === "content" };
  const depth = { deadline_ms, max_depth: SESSION_CEILINGS.max_depth };
  if (isAgent(capsule)) {
    const agent = await openAgent(starting, capsule);
    const { max_turns: max_steps, max_session_tokens: max_tokens } = capsule.manifest.inference;
    const limits = { max_steps, max_tokens, ...depth };
    const task = (input: Parameters<RootCapsule["task"]>[0]) => agentTask({ ...input, ...about, limits }, agent);
    return { ...agent, limits, grants: bounded, task };
  }
  const limits = { ...COMMAND_STEPS, ...depth };
  const guestArgs = guestArguments(resolved, args);
  const task = (input: Parameters<RootCapsule["task"]>[0]) => commandTask({ ...input, ...about, limits }, guestArgs);
  return { ...await openCommand(starting), peers: [], limits, grants: bounded, task };
}

async function openAgent(
  { resolved: { home, grants: { grants } }, digests, model, peers: named, kernel, interrupts, context }: Starting,
  capsule: AgentCapsule,
) {
  if (model?.grant === undefined || digests.component !== undefined) {
    throw new CapsuleError("internal", `Run ${printableLine(capsule.name, 80)}: its model was not resolved`);
  }
  // Before anything is built: who has to set a variable first learns it at once.
  const intelligence = readIntelligence({ ...model, grant: model.grant }, context.readVariable);
  const peers = readPeers(named, context.readVariable);
  const built = await buildTools({
    capsule,
    digests: digests satisfies AgentDigests,
    limits: grants.limits,
    cacheRoot: home.cache,
    hull: kernel.landlock && kernel.seccomp,
    interrupt: interrupts.first,
  });
  try {
    checkTools(capsule, built.tools, grants);
  } catch (error) {
    built[Symbol.dispose]();
    throw error;
  }
  return { parts: { tools: built.tools }, intelligence, peers, [Symbol.dispose]: () => built[Symbol.dispose]() };
}

async function openCommand({ resolved, digests, kernel, interrupts, context }: Starting) {
  const command = asCommand(resolved);
  if (digests.component === undefined) throw new TypeError("A command without its component's digest");
  const { component: digest } = digests;
  const held = await holdComponent(() =>
    prepareComponent(command, digest, kernel.landlock && kernel.seccomp, context, { interrupt: interrupts.first })
  );
  return { parts: { component: held.component }, [Symbol.dispose]: () => held[Symbol.dispose]() };
}
