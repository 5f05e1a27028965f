import { CapsuleError, printableLine } from "../../base/mod.ts";
import { DoorFolder } from "./door_folder.ts";
import { FolderLock } from "../folders/folder_lock.ts";
import type { Home } from "../folders/home.ts";
import { folderFault } from "../folders/private_folder.ts";

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** A named service while this process runs it: nobody else does. */
export interface OwnedService extends Disposable {
  readonly folder: DoorFolder;
}

/** Whether a text can be the name of a service. */
export function isServiceName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Takes a named service for this process, making its folder `services/NAME` (0700) when it is new. The kernel gives it
 * back on every kind of death.
 * @throws `usage.bad_value`, `home.unwritable`, `service.running`
 */
export function ownService(home: Pick<Home, "root">, name: string): OwnedService {
  if (!isServiceName(name)) {
    const found = printableLine(name, 80);
    throw new CapsuleError("usage.bad_value", `Read --name: found "${found}", wanted a-z, 0-9 and -, 64 at most`);
  }
  new DoorFolder(`${home.root}/services`).make();
  const folder = new DoorFolder(`${home.root}/services/${name}`);
  folder.make();
  const lock = FolderLock.tryTake(folder.path, "own");
  if (lock === undefined) {
    const session = folder.readOpen()?.session_id;
    const who = session === undefined ? "" : ` as ${session}`;
    const fix = `end it with \`boll stop ${session ?? "SESSION"}\`, or give another --name`;
    throw new CapsuleError("service.running", `Serve ${name}: it runs already${who}; ${fix}`);
  }
  return { folder, [Symbol.dispose]: () => lock.release() };
}

/** The folder of a service that was once made, whether it runs or not. */
export function findService(home: Pick<Home, "root">, name: string): DoorFolder | undefined {
  if (!isServiceName(name)) return undefined;
  const path = `${home.root}/services/${name}`;
  return folderFault(path) === undefined ? new DoorFolder(path) : undefined;
}

/** Names of all services of a home. */
export function listServices(home: Pick<Home, "root">): string[] {
  try {
    const found = [...Deno.readDirSync(`${home.root}/services`)].map(({ name }) => name);
    return found.filter((name) => findService(home, name) !== undefined).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Whether someone runs the service of that folder. */
export function isServiceRunning(folder: Pick<DoorFolder, "path">): boolean {
  const lock = FolderLock.tryTake(folder.path, "share");
  lock?.release();
  return lock === undefined;
}
