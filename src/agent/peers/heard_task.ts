import type { TaskFile, TaskNews, TaskView } from "../../door/client/mod.ts";

/** What is heard of one task: each artifact's text grows, or is said anew, for itself. */
export class HeardTask {
  #state: Omit<TaskView, "answer" | "files"> | undefined;
  readonly #texts = new Map<string, string>();
  #files: TaskFile[] = [];

  /** Its id, as soon as it is told. */
  get id(): string | undefined {
    return this.#state?.task_id;
  }

  /** It as it stands; undefined when nothing told of one. */
  get task(): TaskView | undefined {
    if (this.#state === undefined) return undefined;
    const texts = [...this.#texts.values()];
    return { ...this.#state, ...(texts.length === 0 ? {} : { answer: texts.join("\n") }), files: this.#files };
  }

  hear(news: TaskNews): void {
    switch (news.kind) {
      case "task": {
        const { answer: _, files, ...state } = news.task;
        this.#state = state;
        for (const [artifact, text] of news.texts) this.#texts.set(artifact, text);
        if (news.hasGap || files.length > 0) this.#files = [...files];
        break;
      }
      case "state":
        this.#state = news.task;
        break;
      case "output": {
        const { artifact, text, append } = news;
        this.#texts.set(artifact, append ? (this.#texts.get(artifact) ?? "") + text : text);
        break;
      }
      case "file":
        this.#files.push(news.file);
        break;
    }
  }
}
