import { type Artifact, type Message, type Part, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import type { TaskStateName } from "../door_event.ts";

/** A file that came out of a task. Its name is the other side's word, and no path. */
export interface TaskFile {
  readonly name: string;
  readonly media_type: string;
  readonly bytes: Uint8Array;
}

/** A task as it stands. */
export interface TaskView {
  readonly task_id: string;
  readonly context_id: string;
  readonly state: TaskStateName;
  /** All that it answered as text. */
  readonly answer?: string;
  /** What it says of its state. */
  readonly reason?: string;
  readonly files: readonly TaskFile[];
}

/** What one hears while a task runs. */
export type TaskNews =
  | { readonly kind: "state"; readonly task: Omit<TaskView, "answer" | "files"> }
  /** A piece of its answer, or the whole, which takes the place of all pieces. */
  | ({ readonly kind: "output"; readonly isWhole: boolean } & OutputPiece)
  | { readonly kind: "file"; readonly file: TaskFile }
  /** The task as it stands: the first word of a stream. With a gap, what was told before is in it, and what was missed. */
  | WholeTask;

/** The task as it stands. */
export interface WholeTask {
  readonly kind: "task";
  readonly task: TaskView;
  readonly texts: TaskTexts;
  readonly hasGap?: true;
}

/** What a task answered as text: of each artifact, by its id. */
export type TaskTexts = ReadonlyMap<string, string>;

/** What one event says of an artifact's text. */
export interface OutputPiece {
  readonly artifact: string;
  readonly text: string;
  /** Whether it goes on with what the artifact has, or takes its place. */
  readonly append: boolean;
}

const STATES: Readonly<Record<number, TaskStateName>> = {
  [TaskState.TASK_STATE_SUBMITTED]: "submitted",
  [TaskState.TASK_STATE_WORKING]: "working",
  [TaskState.TASK_STATE_COMPLETED]: "completed",
  [TaskState.TASK_STATE_FAILED]: "failed",
  [TaskState.TASK_STATE_CANCELED]: "canceled",
  [TaskState.TASK_STATE_INPUT_REQUIRED]: "input_required",
  [TaskState.TASK_STATE_REJECTED]: "rejected",
};

const ENDS: readonly TaskStateName[] = ["completed", "failed", "canceled", "rejected"];

/** Whether nothing more comes of a task in that state. */
export function isEnd(state: TaskStateName): boolean {
  return ENDS.includes(state);
}

/** A task of the SDK's in words of our own. */
export function toTaskView({ id, contextId, status, artifacts }: Task): TaskView {
  const texts = artifacts.filter((artifact) => !isFile(artifact)).map(({ parts }) => textOf(parts));
  return {
    ...toState(id, contextId, status),
    ...(texts.length === 0 ? {} : { answer: texts.join("\n") }),
    files: artifacts.filter(isFile).map(toFile),
  };
}

/** The same as news. */
export function toTaskNews(task: Task): WholeTask {
  const texts = task.artifacts.filter((artifact) => !isFile(artifact));
  return {
    kind: "task",
    task: toTaskView(task),
    texts: new Map(texts.map(({ artifactId, parts }) => [artifactId, textOf(parts)])),
  };
}

/** A plain message as an answer: the agent made no task of it. */
export function toMessageView({ messageId, contextId, parts }: Message): TaskView {
  return { task_id: messageId, context_id: contextId, state: "completed", answer: textOf(parts), files: [] };
}

/** One event of a stream. */
export function toNews({ payload }: StreamResponse): TaskNews | undefined {
  switch (payload?.$case) {
    case "task":
      return toTaskNews(payload.value);
    case "message": {
      const { messageId, parts } = payload.value;
      return { kind: "task", task: toMessageView(payload.value), texts: new Map([[messageId, textOf(parts)]]) };
    }
    case "statusUpdate": {
      const { taskId, contextId, status } = payload.value;
      return { kind: "state", task: toState(taskId, contextId, status) };
    }
    case "artifactUpdate": {
      const { artifact, append, lastChunk } = payload.value;
      if (artifact === undefined) return undefined;
      if (isFile(artifact)) return lastChunk ? { kind: "file", file: toFile(artifact) } : undefined;
      return {
        kind: "output",
        artifact: artifact.artifactId,
        text: textOf(artifact.parts),
        append,
        isWhole: !append && lastChunk,
      };
    }
    default:
      return undefined;
  }
}

function toState(task_id: string, context_id: string, status: Task["status"]): Omit<TaskView, "answer" | "files"> {
  const reason = status?.message === undefined ? "" : textOf(status.message.parts);
  return {
    task_id,
    context_id,
    state: STATES[status?.state ?? 0] ?? "working",
    ...(reason === "" ? {} : { reason }),
  };
}

/** Whether what was told is a piece of a file. */
export function isFile({ parts }: Artifact): boolean {
  return parts.some(({ content, filename }) => content?.$case === "raw" || filename !== "");
}

/** All its parts, one behind the other: a large file comes in several. */
function toFile({ name, parts }: Artifact): TaskFile {
  const { filename, mediaType } = parts.find(({ content, filename }) => content?.$case === "raw" || filename !== "")!;
  const pieces = parts.map(({ content }) =>
    content?.$case === "raw"
      ? new Uint8Array(content.value)
      : new TextEncoder().encode(content?.$case === "text" ? content.value : "")
  );
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return { name: name || filename, media_type: mediaType, bytes };
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ content }) => {
    if (content?.$case === "text") return content.value;
    return content?.$case === "data" ? JSON.stringify(content.value) : "";
  }).join("\n");
}
