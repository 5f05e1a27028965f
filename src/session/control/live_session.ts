import { CapsuleError, errorCodeOf } from "../../base/mod.ts";
import { achievedContainment, checkFloor } from "../../grants/mod.ts";
import { probeHull, type ProcessHull } from "../../hull/mod.ts";
import type { AgentMsg, ControlMsg, SpawnPayload, UnknownMessage } from "../../protocol/control/mod.ts";
import { freeReserve, type SessionEnd, type SessionPaths, type SessionStart, TraceWriter } from "../../records/mod.ts";
import { checkLimits, narrowToLimits } from "../check_limits.ts";
import { raiseFirstLayer } from "../walls/first_layer.ts";
import { failureOutcome, type Outcome } from "../outcome.ts";
import type { CellPlan } from "../plan.ts";
import { isCompiled } from "../self_command.ts";
import type { SessionChannel } from "./session_channel.ts";
import { SessionControl, type SessionNature } from "./session_control.ts";
import { boundSession } from "../walls/session_hull.ts";
import type { SessionLog } from "./session_log.ts";
import type { RoleResult, SessionRoles, SessionWork } from "./session_work.ts";
import type { SpawnerHandle } from "../delegations/spawner_handle.ts";

/** A session that knows what it is to do. */
export interface Session {
  readonly payload: SpawnPayload;
  readonly places: SessionPaths;
  readonly channel: SessionChannel;
  readonly frames: AsyncGenerator<ControlMsg | UnknownMessage>;
  readonly log: SessionLog;
  readonly hull: ProcessHull | undefined;
  readonly spawner: SpawnerHandle | undefined;
  readonly roles: SessionRoles;
}

/** A session under way. */
interface Living {
  readonly session: Session;
  /** Rejects when its first layer of walls could not be raised. */
  readonly confined: Promise<void>;
  readonly control: SessionControl;
  readonly trace: TraceWriter;
}

/** How long a last word may take when nobody may be there to read it, ms. */
const FLUSH_MS = 250;

const MAX_MESSAGE_LENGTH = 60_000;

/** What the work came to; `error` when it was never done. */
type WorkResult = RoleResult & { readonly error?: unknown };

/**
 * Lives one session: follows its supervisor while it works, and whatever way out it takes records the ending, then says
 * one last word. Gives the exit status.
 */
export async function liveSession(session: Session): Promise<number> {
  const { payload, places, channel, frames, log } = session;
  const started = performance.now();
  // Before anything asynchronous, for which the runtime makes threads: they are then below it. What it comes to is said
  // with the rest.
  const confined = new Promise<void>((resolve) => resolve(raiseFirstLayer(session.hull, payload)));
  confined.catch(() => {});
  channel.readInBackground();
  const control = new SessionControl(channel, log, natureOf(payload));
  channel.send({ type: "event", event: "child.up", fields: {} });
  control.watch(payload.limits.deadline_ms);
  control.serve(frames);
  // Its supervisor holds the lock of the session, and with it room on the disk for the ending.
  const lock = { freeReserve: () => freeReserve(places.lockFile) };
  using trace = new TraceWriter({ ...places, lock }, { onProblem: (error) => log.write("warn", error.message) });
  const result = await workToEnd({ session, confined, control, trace });
  const outcome = control.judge(result.outcome);
  const durationMs = Math.round(performance.now() - started);
  trace.append("session_end", { ...outcome, duration_ms: durationMs, ...usageOf(result) });
  log.write("info", `Session ended as ${outcome.status}`, { ended_by: outcome.ended_by });
  await sayLast(channel, control, outcome, result);
  return outcome.exit_code;
}

/** The work, or what stands for it when it fails or does not end in time. */
async function workToEnd(living: Living): Promise<WorkResult> {
  const { control } = living;
  const overdue = control.overdue.then(() => ({ outcome: control.ending!, answer: "" }));
  try {
    return await Promise.race([work(living), overdue]);
  } catch (error) {
    if (control.ending !== undefined) return { outcome: control.ending, answer: "" };
    return { outcome: failureOutcome(error), answer: "", error };
  }
}

async function work({ session, confined, control, trace }: Living): Promise<RoleResult> {
  const { payload, places, hull, log } = session;
  const grants = narrowToLimits(payload);
  const probe = probeHull();
  const containment = achievedContainment(probe, { compiled: isCompiled, net: grants.net });
  const declared = grants.containment === undefined ? {} : { declared: grants.containment };
  const plan: CellPlan = {
    capsule: capsuleOf(payload),
    grants,
    args: payload.args,
    containment: { ...declared, ...containment },
  };
  trace.append("session_start", startOf(session, plan));
  log.write("info", `Session of ${payload.capsule.name} started`, { role: payload.role });
  await confined;
  checkLimits(payload);
  checkFloor(grants, containment);
  boundSession(hull, payload.limits, natureOf(payload));
  const kernel = { landlock: probe.landlockAbi > 0, seccomp: probe.seccomp };
  const own = hull === undefined ? {} : { hull };
  const tmp = Deno.env.get("TMPDIR") ?? "";
  return await runRole(session.roles, { payload, plan, places, trace, control, kernel, tmp, ...own });
}

async function runRole(roles: SessionRoles, work: SessionWork): Promise<RoleResult> {
  const { role } = work.payload;
  const run = roles[role];
  if (run === undefined) {
    throw new CapsuleError("role.unsupported", `Start a session: the role ${role} is not supported yet`);
  }
  return await run(work);
}

function capsuleOf({ capsule: { name, version, digest, path } }: SpawnPayload): CellPlan["capsule"] {
  const kind = path.endsWith(".wasm") ? "component" : "folder";
  return { name, kind, path, digest, ...(version === "" ? {} : { version }) };
}

function startOf({ payload, places, spawner }: Session, plan: CellPlan): SessionStart {
  const { digest, ...capsule } = plan.capsule;
  return {
    capsule,
    digest,
    containment: plan.containment,
    grants: plan.grants,
    args_count: plan.args.length,
    ...(payload.telemetry.log_content ? { args: plan.args } : {}),
    ...(plan.grants.fs.work === undefined ? {} : { work: places.work }),
    ...(spawner === undefined ? {} : { spawned_by: spawner.session_id, delegation_id: spawner.delegation_id }),
  };
}

function usageOf({ usage }: RoleResult): Pick<SessionEnd, "usage"> {
  if (usage === undefined) return {};
  const { memory_percent, bytes_written, output_bytes } = usage;
  return { usage: { memory_percent, bytes_written, output_bytes } };
}

/** A supervisor that broke the protocol is told nothing: the exit status says it. */
async function sayLast(channel: SessionChannel, control: SessionControl, outcome: Outcome, result: WorkResult) {
  const { status, ended_by, exit_code, detail } = outcome;
  if (ended_by === "protocol_broken") return;
  const fields = { ended_by, exit_code, ...(detail === undefined ? {} : { detail }) };
  channel.send({ type: "event", event: "session.ended", fields });
  channel.send({ type: "usage", input_tokens: 0, output_tokens: 0 });
  const said = channel.finish(lastWord(control, { status, ended_by }, result));
  const unheard = control.alone.then(() => new Promise((resolve) => setTimeout(resolve, FLUSH_MS)));
  await Promise.race([said, unheard]);
}

function lastWord(
  control: SessionControl,
  { status, ended_by }: Pick<Outcome, "status" | "ended_by">,
  result: WorkResult,
): AgentMsg {
  const { error, failure, turn, answer, isPartial = ended_by !== "guest" } = result;
  if (error !== undefined && control.ending === undefined) return failureOf(error);
  if (failure !== undefined && control.ending === undefined) return { type: "failed", error: failure };
  if (turn !== undefined) return { type: "turn_done", turn };
  return { type: "result", outcome: { status, partial: isPartial, result: answer, scheduled: [], subscriptions: [] } };
}

function natureOf({ door, role, warm }: SpawnPayload): Required<SessionNature> {
  return { hasDoor: door !== undefined, isWarm: warm, hasModel: role !== "command" };
}

function failureOf(error: unknown): AgentMsg {
  const message = error instanceof Error ? error.message : String(error);
  const code = errorCodeOf(error) ?? "internal";
  return { type: "failed", error: { code, message: message.slice(0, MAX_MESSAGE_LENGTH) } };
}
