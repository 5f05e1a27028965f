import { CapsuleError, printableLine } from "../../base/mod.ts";
import {
  describeSession,
  DoorFolder,
  findService,
  findSession,
  hasSummary,
  type Home,
  isServiceRunning,
  listServices,
  listSessions,
  sessionPaths,
} from "../../records/mod.ts";

/** A door of this home. */
export interface LocalDoor {
  readonly folder: DoorFolder;
  /** The service's name, or the session's id. */
  readonly name: string;
  readonly isRunning: boolean;
}

/** Where to send, and what opens it, when that is known here. */
export interface FoundDoor {
  readonly url: string;
  readonly token?: string;
}

const URL_SHAPE = /^https?:\/\//i;

/**
 * What a person named: a URL, a service of this home, or a session. The token of a door of this home is found by itself,
 * while that door is open: whoever took its port later is not told it.
 *
 * @throws `service.not_found`, `records.not_found`, `usage.bad_value`
 */
export function findDoor(home: Home, wanted: string): FoundDoor {
  if (!URL_SHAPE.test(wanted)) return openedDoor(findLocalDoor(home, wanted));
  const url = parseUrl(wanted);
  const known = runningDoors(home).find(({ folder }) => originOf(folder.readOpen()?.url) === url.origin);
  return { url: url.href, ...tokenOf(known) };
}

/** @throws `service.not_found`, `records.not_found` */
export function findLocalDoor(home: Home, wanted: string): LocalDoor {
  const service = findService(home, wanted);
  if (service !== undefined) return { folder: service, name: wanted, isRunning: isServiceRunning(service) };
  if (wanted !== "last" && !listSessions(home).some((id) => id.startsWith(wanted) || id.startsWith(`ses_${wanted}`))) {
    throw new CapsuleError(
      "service.not_found",
      `Find a door: found no service or session "${printableLine(wanted, 80)}"; give its URL, or see \`boll ps\``,
    );
  }
  const { id, records } = findSession(home, wanted);
  const own = runningDoors(home).find(({ folder }) => folder.readOpen()?.session_id === id);
  if (own !== undefined) return own;
  const folder = new DoorFolder(`${records}/door`);
  if (folder.exists()) return { folder, name: id, isRunning: describeSession(home, id).status === "running" };
  throw new CapsuleError("service.not_found", `Find a door: session ${id} has none; see \`boll serve --help\``);
}

/** Every door of this home that is open now, oldest session first, services before. */
export function runningDoors(home: Home): LocalDoor[] {
  const services = listServices(home).map((name) => ({ name, folder: findService(home, name)! }))
    .filter(({ folder }) => isServiceRunning(folder));
  const sessions = listSessions(home).filter((id) => !hasSummary(sessionPaths(home, id)))
    .map((id) => ({ name: id, folder: new DoorFolder(`${sessionPaths(home, id).records}/door`) }))
    .filter(({ name, folder }) => folder.exists() && describeSession(home, name).status === "running");
  return [...services, ...sessions].map((door) => ({ ...door, isRunning: true }));
}

function openedDoor(door: LocalDoor): FoundDoor {
  const open = door.isRunning ? door.folder.readOpen() : undefined;
  if (open !== undefined) return { url: open.url, ...tokenOf(door) };
  const name = printableLine(door.name, 80);
  throw new CapsuleError("service.not_found", `Find a door: ${name} does not run; start it with \`boll serve\``);
}

function tokenOf(door: LocalDoor | undefined): { token?: string } {
  const token = door?.folder.readToken();
  return token === undefined ? {} : { token };
}

function parseUrl(text: string): URL {
  try {
    const url = new URL(text);
    if (url.username === "" && url.password === "") return url;
  } catch { /* said below */ }
  const found = printableLine(text, 80);
  throw new CapsuleError("usage.bad_value", `Read URL: found "${found}", wanted http://HOST:PORT, without a password`);
}

function originOf(url: string | undefined): string | undefined {
  try {
    return url === undefined ? undefined : new URL(url).origin;
  } catch {
    return undefined;
  }
}
