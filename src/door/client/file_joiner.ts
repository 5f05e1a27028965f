import type { Artifact, Part, StreamResponse } from "@a2a-js/sdk";
import { CapsuleError } from "../../base/mod.ts";
import { isFile } from "./task_news.ts";

/** Pieces of files that are held at once, bytes. */
const MAX_HELD = 64 * 1024 * 1024;

/** Puts files together whose pieces come in several events of a stream. */
export class FileJoiner {
  readonly #begun = new Map<string, Part[]>();
  #held = 0;

  /** The event, with all of its file when it is the last of several. @throws `door.refused` when too much is begun */
  take(event: StreamResponse): StreamResponse {
    const { payload } = event;
    if (payload?.$case !== "artifactUpdate" || !payload.value.artifact || !isFile(payload.value.artifact)) return event;
    const { artifact, append, lastChunk } = payload.value;
    const parts = append ? this.#begun.get(artifact.artifactId) ?? [] : [];
    this.#held += sizeOf(artifact);
    if (this.#held > MAX_HELD) {
      throw new CapsuleError("door.refused", "Read a stream: its files are larger than 64 MiB");
    }
    // As many as a stranger likes: they are copied once.
    for (const part of artifact.parts) parts.push(part);
    if (!lastChunk) {
      this.#begun.set(artifact.artifactId, parts);
      return event;
    }
    const whole = { ...artifact, parts };
    this.#begun.delete(artifact.artifactId);
    this.#held -= sizeOf(whole);
    return { payload: { $case: "artifactUpdate", value: { ...payload.value, artifact: whole } } };
  }
}

function sizeOf({ parts }: Pick<Artifact, "parts">): number {
  return parts.reduce((sum, { content }) => sum + (content?.$case === "raw" ? content.value.length : 0), 0);
}
