import type { Artifact, Part, StreamResponse, Task } from "@a2a-js/sdk";
import { taskBytes } from "./task_words.ts";

/** A part of an artifact, as one event tells it. */
export interface ArtifactPiece {
  readonly artifact: Artifact;
  /** It belongs behind what was told of the artifact before. */
  readonly append: boolean;
  readonly isLast: boolean;
}

/** The longest text and the most bytes in one event: the SDK's clients give a stream up at an event of 4 MiB. */
const MAX_TEXT = 256 * 1024;
const MAX_RAW = 2 * 1024 * 1024;
/** Above this a task is told without what it said so far, and that piece by piece. */
const MAX_TASK = 1024 * 1024;

/** An artifact in pieces, one of them when it is small. */
export function piecesOf(artifact: Artifact): ArtifactPiece[] {
  const parts = artifact.parts.flatMap(partPieces);
  return parts.map((part, at) => ({
    artifact: { ...artifact, parts: [part] },
    append: at > 0,
    isLast: at === parts.length - 1,
  }));
}

/** A text in pieces that are not too long, at least one; none is cut within a character. */
export function textPieces(text: string): string[] {
  const pieces: string[] = [];
  let at = 0;
  do {
    let end = Math.min(at + MAX_TEXT, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end--;
    pieces.push(text.slice(at, end));
    at = end;
  } while (at < text.length);
  return pieces;
}

/** A task as a stream tells it first: whole, or when it is large itself and then what came out of it. */
export function taskEvents(task: Task): StreamResponse[] {
  if (taskBytes(task) <= MAX_TASK) return [{ payload: { $case: "task", value: task } }];
  const history = taskBytes({ ...task, artifacts: [] }) > MAX_TASK ? [] : task.history;
  const pieces = task.artifacts.flatMap(piecesOf).map((piece) => pieceEvent(task, piece));
  return [{ payload: { $case: "task", value: { ...task, history, artifacts: [] } } }, ...pieces];
}

/** About how many bytes an event takes. */
export function eventBytes({ payload }: StreamResponse): number {
  if (payload?.$case === "task") return taskBytes(payload.value);
  const artifact = payload?.$case === "artifactUpdate" ? payload.value.artifact : undefined;
  return taskBytes({ history: [], artifacts: artifact === undefined ? [] : [artifact] });
}

/** A piece as an event of its task. */
export function pieceEvent({ id, contextId }: Task, { artifact, append, isLast }: ArtifactPiece): StreamResponse {
  const value = { taskId: id, contextId, artifact, append, lastChunk: isLast, metadata: undefined };
  return { payload: { $case: "artifactUpdate", value } };
}

function partPieces(part: Part): Part[] {
  const { content } = part;
  if (content?.$case === "text") {
    return textPieces(content.value).map((value) => ({ ...part, content: { $case: "text", value } }));
  }
  if (content?.$case !== "raw" || content.value.length <= MAX_RAW) return [part];
  const count = Math.ceil(content.value.length / MAX_RAW);
  return Array.from({ length: count }, (_, at) => {
    const value = content.value.subarray(at * MAX_RAW, (at + 1) * MAX_RAW);
    return { ...part, content: { $case: "raw", value } };
  });
}
