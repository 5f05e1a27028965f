import type { Credentials, Door, DoorEvent, DoorOptions } from "../door/mod.ts";
import type { HullRules } from "../base/mod.ts";
import type { DoorSpec } from "../protocol/control/mod.ts";
import { DoorFolder, sessionPaths, type TraceWriter } from "../records/mod.ts";
import { dirname } from "@std/path";
import type { ChildLauncher } from "./child_launcher.ts";
import { DoorHull } from "./door_hull.ts";
import { CommandDoorWork } from "./door_work.ts";
import { type Command, findCommand } from "./find_command.ts";
import { upstreamOf } from "./payload_upstream.ts";
import { refuseUnsupported } from "./refuse_unsupported.ts";
import type { RoleResult, SessionWork } from "./session_work.ts";
import { StderrLog } from "./stderr_log.ts";
import { supervisorRules } from "./supervisor_hull.ts";
import { TurnCells, type TurnRun } from "./turn_cells.ts";

/** How long whoever waits at the door is told how it ended, ms: less than the session has to wind down. */
const DRAIN_MS = 2_000;

/** How often it is looked whether other peers may come in by now, ms. */
const LOOK_MS = 500;

/**
 * A warm command: opens its door, and does what comes in one task after the other, until it is told to end. The walls of
 * this process stand before the port is bound, which is then all that it may bind, and nothing once it is.
 *
 * @throws `capsule.*`, `component.*`, `grant.*`, `hull.failed`, `payload.unsupported`, `service.listen_failed`
 */
export async function runDoorSession(work: SessionWork, spec: DoorSpec): Promise<RoleResult> {
  const { payload, places, plan, control, trace } = work;
  refuseUnsupported(payload);
  const command = await findCommand(payload, plan.grants);
  const { openDoor } = await import("../door/mod.ts");
  const launcher = await launcherOf(work);
  const run = turnRun(work, command);
  await using cells = await TurnCells.open(run);
  using log = new StderrLog(places, { rolls: true });
  const hull = new DoorHull(work.hull, sessionRules(work, command, cells), spec.service?.folder);
  hull.allowBinding(spec.port);
  const confined = Promise.withResolvers<void>();
  const tasks = new CommandDoorWork({
    run,
    cells,
    control,
    trace,
    log,
    confined: confined.promise,
    ...(launcher === undefined ? {} : { launcher }),
  });
  await using door = await openDoor(optionsOf(work, spec, command, tasks));
  hull.close();
  confined.resolve();
  cells.prepare();
  using _credentials = followCredentials(door, spec, doorFolderOf(work, spec));
  control.sayReady();
  control.sayOpen(door.url);
  await Promise.race([untilAborted(control.signal), door.done]);
  await door.drain(DRAIN_MS);
  // Its one task is what the session came to.
  if (spec.accept === "single" && tasks.last !== undefined) return tasks.last;
  const { turns, failed } = tasks.tally;
  const detail = `${turns} tasks, ${failed} of them not completed`;
  return { outcome: { status: "completed", exit_code: 0, ended_by: "guest", detail }, answer: "" };
}

function turnRun(work: SessionWork, { component }: Command): TurnRun {
  const { payload, plan, places, trace, kernel, tmp } = work;
  const deadline_ms = Math.min(plan.grants.limits.deadline_ms, payload.limits.deadline_ms);
  const own = sessionPaths({ sessions: dirname(places.root) }, places.id).work;
  return {
    plan: { ...plan, grants: { ...plan.grants, limits: { ...plan.grants.limits, deadline_ms } } },
    component,
    envValues: Object.fromEntries(payload.env),
    places,
    trace,
    kernel,
    ...upstreamOf(payload),
    tmp,
    sharesWork: plan.grants.fs.work !== undefined && places.work !== own,
  };
}

/** What this process and its cells need from here on, its door not included. */
function sessionRules({ plan, places, tmp }: SessionWork, { component }: Command, cells: TurnCells): HullRules {
  const { network } = cells;
  return supervisorRules(plan.grants, {
    cache: component.dir,
    session: places.root,
    // The folders of the cells are made in this process's own.
    tmp: `${tmp}/cell`,
    ...(plan.grants.fs.work === undefined ? {} : { work: places.work }),
    ...(network === undefined ? {} : { network }),
  }, false);
}

function optionsOf(work: SessionWork, spec: DoorSpec, { capsule }: Command, tasks: CommandDoorWork): DoorOptions {
  const { places, trace } = work;
  const description = capsule.manifest?.description ?? `The capsule ${capsule.name}.`;
  return {
    listen: { hostname: spec.hostname, port: spec.port },
    names: spec.names,
    card: {
      name: capsule.name,
      description,
      version: capsule.version ?? "0.0.0",
      skills: [{ id: capsule.name, name: capsule.name, description, tags: ["capsule"] }],
      ...(tasks.takesFiles ? { inputModes: ["text/plain", "*"] } : {}),
      ...(tasks.givesFiles ? { outputModes: ["text/plain", "application/octet-stream"] } : {}),
    },
    work: tasks,
    credentials: credentialsOf(spec, spec.peers),
    accept: spec.accept,
    queueDepth: spec.queue_depth,
    storage: spec.service === undefined ? { kind: "memory" } : { kind: "folder", path: spec.service.folder },
    isIdempotent: spec.idempotent,
    // A nudge to look, and nobody has to: the supervisor hands over what it reaped.
    completions: { sessionId: places.id, isWaiting: (id) => tasks.isWaiting(id), onCompletion() {} },
    record: (event) => record(trace, event),
    gauges: () => gaugesOf(tasks),
  };
}

function gaugesOf({ tally }: CommandDoorWork): Readonly<Record<string, number>> {
  return { boll_turns: tally.turns, boll_turns_not_completed: tally.failed, boll_turns_running: tally.running };
}

/** Tasks that were never taken are an outsider's to make: they are counted apart, and bounded. */
function record(trace: Pick<TraceWriter, "append">, { event, ...fields }: DoorEvent): void {
  const name = event === "task_end" && "state" in fields && fields.state === "rejected" ? "task_rejected" : event;
  trace.append(name, fields as Parameters<TraceWriter["append"]>[1] as never);
}

function credentialsOf({ open, token_hash }: DoorSpec, peers: DoorSpec["peers"]): Credentials {
  return {
    isOpen: open,
    ...(token_hash === undefined ? {} : { ownerTokenHash: token_hash }),
    peers: peers.map(({ name, token_hash }) => ({ name, tokenHash: token_hash })),
  };
}

/** Where `boll token add` writes: the service's folder, or the door's in the records of the session. */
function doorFolderOf({ places }: Pick<SessionWork, "places">, { service }: DoorSpec): DoorFolder {
  return new DoorFolder(service?.folder ?? `${places.records}/door`);
}

/** From now on whoever is added may come in, and who is revoked may not. */
function followCredentials(door: Pick<Door, "setCredentials">, spec: DoorSpec, folder: DoorFolder): Disposable {
  let known = folder.peersVersion();
  const timer = setInterval(() => {
    const now = folder.peersVersion();
    if (now === known) return;
    known = now;
    try {
      door.setCredentials(credentialsOf(spec, folder.peers()));
    } catch { /* what cannot be read lets in whom it let in before */ }
  }, LOOK_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Only a session that may delegate loads what that takes. */
async function launcherOf({ plan, control }: SessionWork): Promise<ChildLauncher | undefined> {
  if (plan.grants.spawn.length === 0) return undefined;
  const { remoteLauncher } = await import("./remote_launcher.ts");
  return remoteLauncher(control.requests);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
