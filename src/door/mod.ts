/**
 * A session's A2A endpoint: messages of others become tasks, one after the other. Enters: bytes of anybody. Leaves: tasks
 * for the port `DoorWork`, and what came of them for whoever may know. It runs nothing, knows no cell and no capsule, and
 * writes no file but its own store of tasks.
 * @module
 */
export type {
  CompletionNotice,
  Credentials,
  Door,
  DoorCard,
  DoorOptions,
  DoorSkill,
  PeerCredential,
  TaskStorage,
} from "./options.ts";
export type { DoorEvent, TaskStateName } from "./door_event.ts";
export type { DoorTask, DoorWork, InputFile, TaskArtifact, TaskEnd, TaskOrigin, TaskVoice } from "./work.ts";
