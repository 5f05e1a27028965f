import { Buffer } from "node:buffer";
import { type Artifact, type Message, type Part, Role, type Task, TaskState, type TaskStatus } from "@a2a-js/sdk";
import { newId } from "../../base/mod.ts";
import type { TaskStateName } from "../door_event.ts";
import type { TaskArtifact, TaskEnd } from "../work.ts";

const TERMINAL: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
]);

const NAMES: Partial<Record<TaskState, TaskStateName>> = {
  [TaskState.TASK_STATE_SUBMITTED]: "submitted",
  [TaskState.TASK_STATE_WORKING]: "working",
  [TaskState.TASK_STATE_INPUT_REQUIRED]: "input_required",
  [TaskState.TASK_STATE_COMPLETED]: "completed",
  [TaskState.TASK_STATE_FAILED]: "failed",
  [TaskState.TASK_STATE_CANCELED]: "canceled",
  [TaskState.TASK_STATE_REJECTED]: "rejected",
};

const ENDS: Readonly<Record<TaskEnd["state"], TaskState>> = {
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
  rejected: TaskState.TASK_STATE_REJECTED,
};

/** The state that an end is told as. */
export function stateOf(end: TaskEnd["state"]): TaskState {
  return ENDS[end];
}

/** Whether nothing more becomes of the task. */
export function hasEnded(task: Task): boolean {
  return TERMINAL.has(task.status!.state);
}

/** Whether a stream ends here: the task has ended, or waits for its sender. */
export function isResting(task: Task): boolean {
  return hasEnded(task) || task.status!.state === TaskState.TASK_STATE_INPUT_REQUIRED;
}

/** The state's own word. */
export function stateName(task: Task): TaskStateName {
  return NAMES[task.status!.state] ?? "working";
}

/** A status now, with words of the door or of the work when there are any. */
export function statusOf(state: TaskState, nowMs: number, message?: Message): TaskStatus {
  return { state, message, timestamp: new Date(nowMs).toISOString() };
}

/** What the agent says. */
export function agentMessage({ id, contextId }: Pick<Task, "id" | "contextId">, text: string): Message {
  return {
    messageId: newId("msg"),
    contextId,
    taskId: id,
    role: Role.ROLE_AGENT,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/** A part of plain text. */
export function textPart(text: string): Part {
  return { content: { $case: "text", value: text }, mediaType: "text/plain", filename: "", metadata: undefined };
}

/** An artifact of these parts. */
export function artifactOf(artifactId: string, name: string, parts: Part[]): Artifact {
  return { artifactId, name, description: "", parts, metadata: undefined, extensions: [] };
}

/** What came out of a task as the protocol has it. */
export function partOf(artifact: TaskArtifact): Part {
  const common = { filename: artifact.name, metadata: undefined };
  if ("bytes" in artifact) {
    const { bytes, mediaType } = artifact;
    return { ...common, mediaType, content: { $case: "raw", value: bufferOf(bytes) } };
  }
  if ("url" in artifact) {
    return { ...common, mediaType: artifact.mediaType, content: { $case: "url", value: artifact.url } };
  }
  return { ...common, filename: "", mediaType: "application/json", content: { $case: "data", value: artifact.data } };
}

/** About how many bytes of memory a task holds, and an answer that has all of it. */
export function taskBytes({ history, artifacts }: Pick<Task, "history" | "artifacts">): number {
  const holders = [...history, ...artifacts];
  const parts = holders.flatMap(({ parts }) => parts);
  const known = [...holders, ...parts].reduce((sum, { metadata }) => sum + jsonBytes(metadata), 0);
  return 1_024 + known + parts.reduce((sum, part) => sum + partBytes(part), 0);
}

function jsonBytes(value: unknown): number {
  return value === undefined ? 0 : 2 * JSON.stringify(value).length;
}

function partBytes({ content }: Part): number {
  if (content?.$case === "data") return 256 + jsonBytes(content.value);
  if (content?.$case === "text" || content?.$case === "url") return 2 * content.value.length;
  if (content?.$case === "raw") return content.value.length;
  return 256;
}

type RawPart = Extract<Part["content"], { $case: "raw" }>;

function bufferOf(bytes: Uint8Array): RawPart["value"] {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
