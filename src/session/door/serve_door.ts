import type { Credentials, Door, DoorCard, DoorEvent, DoorOptions, DoorWork } from "../../door/mod.ts";
import type { HullRules } from "../../base/mod.ts";
import type { DoorSpec } from "../../protocol/control/mod.ts";
import { DoorFolder, KeptAnswers, type TraceWriter } from "../../records/mod.ts";
import { DoorHull } from "../walls/door_hull.ts";
import type { RoleResult, SessionWork } from "../control/session_work.ts";

/** How long whoever waits at the door is told how it ended, ms: less than the session has to wind down. */
const DRAIN_MS = 2_000;

/** How often it is looked whether other peers may come in by now, ms. */
const LOOK_MS = 500;

/** What a client is told of texts. What else is text is taken, too. */
const TEXTS = ["text/plain", "text/*", "application/json"];

/** What does the tasks of a door. */
export interface DoorTasks extends DoorWork {
  /** Turns so far, how many of them did not complete, and how many run. */
  readonly tally: { readonly turns: number; readonly failed: number; readonly running: number };
  /** What the task that ended last came to. */
  readonly last: RoleResult | undefined;
  /** Whether files may come with a message: any, or texts that have so many bytes together at most. */
  readonly takesFiles: boolean | { readonly maxTextBytes: number };
  /** Whether files may come out of a task. */
  readonly givesFiles: boolean;
  /** Whether the task that runs waits for that delegation. */
  isWaiting(delegationId: string): boolean;
}

/** A door and what is behind it. */
export interface ServedDoor {
  readonly spec: DoorSpec;
  readonly tasks: DoorTasks;
  readonly card: Pick<DoorCard, "name" | "description" | "version"> & Partial<Pick<DoorCard, "skills">>;
  /** Called once the port is bound and this process stands behind its last walls: what it waits for begins then. */
  onBound(): void | Promise<void>;
  /** Why it cannot take work, for `/readyz`, which strangers read; default it can. */
  unready?(): string | undefined;
}

/** The walls of a session with a door, whose rules without it are these; raised as far as its port can be bound. */
export function raiseDoorHull({ hull }: Pick<SessionWork, "hull">, rules: HullRules, spec: DoorSpec): DoorHull {
  const walls = new DoorHull(hull, rules, spec.service?.folder);
  walls.allowBinding(spec.port);
  return walls;
}

/**
 * Opens the door of a session and does what comes in one task after the other, until it is told to end. Its walls stand
 * before the port is bound, which is then all that it may bind, and nothing once it is.
 *
 * @throws `hull.failed`, `service.listen_failed`
 */
export async function serveDoor(work: SessionWork, hull: DoorHull, served: ServedDoor): Promise<RoleResult> {
  const { spec, tasks } = served;
  const { control } = work;
  const { DEFAULT_LIMITS, openDoor } = await import("../../door/mod.ts");
  // As many as a named service keeps of its tasks.
  const { keptTasks, keptBytes } = DEFAULT_LIMITS;
  const answers = new KeptAnswers(work.places, { answers: keptTasks, bytes: keptBytes });
  await using door = await openDoor(optionsOf(work, served, answers));
  hull.close(door.address.port, DEFAULT_LIMITS.writeMs);
  await served.onBound();
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

function optionsOf(
  { places, trace }: SessionWork,
  { spec, tasks, card, unready }: ServedDoor,
  answers: KeptAnswers,
): DoorOptions {
  const { name, description } = card;
  return {
    listen: { hostname: spec.hostname, port: spec.port },
    names: spec.names,
    card: {
      skills: [{ id: name, name, description, tags: ["capsule"] }],
      ...card,
      ...(tasks.takesFiles === false ? {} : { inputModes: tasks.takesFiles === true ? ["text/plain", "*"] : TEXTS }),
      ...(tasks.givesFiles ? { outputModes: ["text/plain", "application/octet-stream"] } : {}),
    },
    work: tasks,
    ...(typeof tasks.takesFiles === "object" ? tasks.takesFiles : {}),
    credentials: credentialsOf(spec, spec.peers),
    accept: spec.accept,
    queueDepth: spec.queue_depth,
    storage: spec.service === undefined ? { kind: "memory" } : { kind: "folder", path: spec.service.folder },
    isIdempotent: spec.idempotent,
    // A nudge to look, and nobody has to: the supervisor hands over what it reaped.
    completions: { sessionId: places.id, isWaiting: (id) => tasks.isWaiting(id), onCompletion() {} },
    record: (event) => {
      record(trace, event);
      if (event.event === "task_end") answers.add(event.task_id);
    },
    ...(unready === undefined ? {} : { unready }),
    gauges: () => gaugesOf(tasks),
  };
}

function gaugesOf({ tally }: DoorTasks): Readonly<Record<string, number>> {
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

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
