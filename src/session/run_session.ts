import { dirname } from "@std/path";
import { CapsuleError, errorCodeOf } from "../base/mod.ts";
import type { ProcessHull } from "../hull/mod.ts";
import type { ControlMsg, SpawnPayload, UnknownMessage } from "../protocol/control/mod.ts";
import { badField } from "../protocol/mod.ts";
import { type SessionPaths, sessionPaths } from "../records/mod.ts";
import { withDoorPort } from "./walls/first_layer.ts";
import { liveSession } from "./control/live_session.ts";
import { SPAWNER } from "./self_command.ts";
import { SessionChannel } from "./control/session_channel.ts";
import { openSessionHull } from "./walls/session_hull.ts";
import { moveConsole, SessionLog } from "./control/session_log.ts";
import type { SessionRoles } from "./control/session_work.ts";
import { readSpawner, type SpawnerHandle } from "./delegations/spawner_handle.ts";

export type { RoleResult, SessionRoles, SessionWork } from "./control/session_work.ts";
export { runCommandRole } from "./command/command_role.ts";

/** What the caller must be told of a bad start. */
const BAD_START = 2;

/**
 * Runs this process as a session: frames on stdin and stdout, a log on stderr, its whole authority in the first frame; what
 * it does are its `roles`. It starts only its own cells. Never returns: it ends with its work, or with its supervisor.
 */
export async function runSession(roles: SessionRoles): Promise<never> {
  const log = new SessionLog();
  moveConsole(log);
  const channel = new SessionChannel();
  const frames = channel.receive();
  let hull: ProcessHull | undefined;
  let spawner: SpawnerHandle | undefined;
  let payload: SpawnPayload;
  let places: SessionPaths;
  try {
    hull = openSessionHull();
    spawner = readSpawner(Deno.env.get(SPAWNER));
    payload = withDoorPort(await readPayload(frames));
    places = placesOf(payload);
  } catch (error) {
    const isOurs = errorCodeOf(error) !== undefined;
    log.write("error", isOurs ? (error as Error).message : "Start a session: a failure of its own");
    Deno.exit(BAD_START);
  }
  log.identify(payload.telemetry);
  const exitCode = await liveSession({ payload, places, channel, frames, log, hull, spawner, roles });
  Deno.exit(exitCode);
}

/** @throws `protocol.*` naming what came instead, never what was in it */
async function readPayload(frames: AsyncGenerator<ControlMsg | UnknownMessage>): Promise<SpawnPayload> {
  const { value, done } = await frames.next();
  if (done) throw new CapsuleError("protocol.unexpected", "Start a session: stdin ended before spawn");
  if (value.type !== "spawn") {
    const label = value.type === "unknown" ? value.tag : value.type;
    throw new CapsuleError("protocol.unexpected", `Start a session: the first message is ${label}, wanted spawn`);
  }
  const { type: _, ...payload } = value;
  return payload;
}

/** @throws `protocol.bad_field` when the folder is not the session's */
function placesOf({ places: { session_id, root, work } }: SpawnPayload): SessionPaths {
  const paths = sessionPaths({ sessions: dirname(root) }, session_id);
  if (paths.root !== root) throw badField("message.places.root", "the folder of the session");
  return { ...paths, work };
}
