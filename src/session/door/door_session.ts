import type { HullRules } from "../../base/mod.ts";
import type { DoorSpec } from "../../protocol/control/mod.ts";
import { sessionPaths } from "../../records/mod.ts";
import { dirname } from "@std/path";
import type { ChildLauncher } from "../delegations/child_launcher.ts";
import { CommandDoorWork } from "./door_work.ts";
import { type Command, findCommand } from "../command/find_command.ts";
import { upstreamOf } from "../network/payload_upstream.ts";
import { refuseUnsupported } from "../command/refuse_unsupported.ts";
import type { RoleResult, SessionWork } from "../control/session_work.ts";
import { raiseDoorHull, type ServedDoor, serveDoor } from "./serve_door.ts";
import { StderrLog } from "../cell/stderr_log.ts";
import { supervisorRules } from "../walls/supervisor_hull.ts";
import { TurnCells, type TurnRun } from "./turn_cells.ts";

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
  const launcher = await launcherOf(work);
  const run = turnRun(work, command);
  await using cells = await TurnCells.open(run);
  using log = new StderrLog(places, { rolls: true });
  const hull = raiseDoorHull(work, sessionRules(work, command, cells), spec);
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
  return await serveDoor(work, hull, {
    spec,
    tasks,
    card: cardOf(command),
    onBound() {
      confined.resolve();
      cells.prepare();
    },
  });
}

function cardOf({ capsule: { name, version = "0.0.0", manifest } }: Command): ServedDoor["card"] {
  return { name, version, description: manifest?.description ?? `The capsule ${name}.` };
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

/** Only a session that may delegate loads what that takes. */
async function launcherOf({ plan, control }: SessionWork): Promise<ChildLauncher | undefined> {
  if (plan.grants.spawn.length === 0) return undefined;
  const { remoteLauncher } = await import("../delegations/remote_launcher.ts");
  return remoteLauncher(control.requests);
}
