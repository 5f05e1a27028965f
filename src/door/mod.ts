/**
 * A session's A2A endpoint: messages of others become tasks, one after the other. Enters: bytes of anybody. Leaves: tasks
 * for the port `DoorWork`, and what came of them for whoever may know. It runs nothing, knows no cell and no capsule, and
 * writes no file but its own store of tasks.
 * @module
 */
import type { Door, DoorOptions } from "./options.ts";

export type {
  CompletionReceiver,
  Credentials,
  Door,
  DoorCard,
  DoorOptions,
  DoorSkill,
  PeerCredential,
  TaskStorage,
} from "./options.ts";
export type { DoorEvent, TaskStateName } from "./door_event.ts";
export type {
  DoorTask,
  DoorWork,
  InputFile,
  TaskAnswer,
  TaskArtifact,
  TaskEnd,
  TaskOrigin,
  TaskVoice,
} from "./work.ts";
export { isPeers } from "./work.ts";
export { type Clock, SYSTEM_CLOCK } from "./clock.ts";
export * from "./judge_notice.ts";
export { DEFAULT_LIMITS, type DoorLimits } from "./limits.ts";

/** Opens a door, its tasks first. Its code is loaded with the first one. @throws `service.listen_failed`, `door.*` */
export async function openDoor(options: DoorOptions): Promise<Door> {
  const door = await import("./open_door.ts");
  return await door.openDoor(options);
}
