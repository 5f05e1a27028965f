/** How far the sender of a task is trusted: it decides how the text is fenced, and never what a capsule may do. */
export type TaskOrigin = "user" | "peer" | "system";

/** Whoever comes to an open door without a token. */
export const ANONYMOUS = "anonymous";

/** A part of a message that is no text. */
export interface InputFile {
  /** As the sender said it: any text, or none. Not a path. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** What a message asks for; the door has checked and recorded it. */
export interface DoorTask {
  /** `tsk_…`, never used twice. */
  readonly id: string;
  /** `ctx_…`, or what the sender named. */
  readonly contextId: string;
  /** As its sender named it; two may be the same. */
  readonly messageId: string;
  /** All text parts of the message, a line between each two. */
  readonly text: string;
  readonly files: readonly InputFile[];
  readonly origin: TaskOrigin;
  /** `owner`, the name of a peer, or `anonymous` at an open door. */
  readonly principal: string;
  /** Aborted when the task is cancelled or the door gives it up; the work then ends soon. */
  readonly signal: AbortSignal;
  /** Whether an earlier session was at it when it ended. */
  readonly isRerun: boolean;
}

/** Whether it is one of peers, whose share is bounded. A door that is open to all is opened for them. */
export function isPeers({ origin, principal }: Pick<DoorTask, "origin" | "principal">): boolean {
  return origin === "peer" && principal !== ANONYMOUS;
}

/** What came out of a task beside its answer: a file, a value of JSON, or where something is found. */
export type TaskArtifact =
  | { readonly name: string; readonly mediaType: string; readonly bytes: Uint8Array }
  | { readonly name: string; readonly data: unknown }
  | { readonly name: string; readonly mediaType: string; readonly url: string };

/** An answer to a question. */
export interface TaskAnswer {
  readonly text: string;
  readonly files: readonly InputFile[];
  /** Whose word it is: who may answer may say less of it than of the task. */
  readonly origin: TaskOrigin;
}

/** What the work says while it runs; after its end nothing of it is heard. */
export interface TaskVoice {
  /** A word on the way. */
  working(text?: string): void;
  artifact(artifact: TaskArtifact): void;
  /** A piece of the answer, as it comes. The answer of {@link TaskEnd} is the whole of it. */
  output(text: string): void;
  /** Asks back: the next message for this task answers. Rejects when the task is cancelled, or nobody answers in time. */
  ask(question: string, timeoutMs: number): Promise<TaskAnswer>;
}

/** How the work ended. */
export interface TaskEnd {
  readonly state: "completed" | "failed" | "canceled" | "rejected";
  /** The whole answer. */
  readonly answer?: string;
  /** Why, when it did not complete: a sentence for the sender. */
  readonly reason?: string;
}

/** Port: does what a message asks for. One at a time; an error is a failure of its own, and its text is not passed on. */
export interface DoorWork {
  run(task: DoorTask, voice: TaskVoice): Promise<TaskEnd>;
}
