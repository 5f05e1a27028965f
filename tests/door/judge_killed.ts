/** A task as `ListTasks` gives it. */
export interface KilledTask {
  readonly id: string;
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly { text?: string }[] } };
  readonly history: readonly { readonly parts: readonly { text?: string }[] }[];
}

/** What was seen of a door that was killed. */
export interface KilledDoor {
  readonly tasks: readonly KilledTask[];
  readonly accepted: readonly { readonly name: string; readonly id: string }[];
  readonly unanswered: readonly string[];
  readonly kills: number;
  /** Tasks that were to be cancelled. */
  readonly cancelled: ReadonlySet<string>;
  /** How often the message of that name was run. */
  runsOf(name: string): number;
  /** The state that each reader of a task heard last. */
  readonly ends: ReadonlyMap<string, readonly string[]>;
}

/** Counts what became of each message, and says what must not be. */
export function judgeKilled({ tasks, accepted, unanswered, kills, cancelled, runsOf, ends }: KilledDoor) {
  const found = new Map(tasks.map((task) => [task.id, task]));
  const names = tasks.map(nameOf);
  const lost = accepted.filter(({ id }) => !found.has(id)).length;
  const exchanged = accepted.filter(({ id, name }) => found.has(id) && nameOf(found.get(id)!) !== name).length;
  const interrupted = tasks.filter(isInterrupted);
  const completed = tasks.filter(({ status }) => status.state === "TASK_STATE_COMPLETED");
  const canceled = tasks.filter(({ id, status }) => status.state === "TASK_STATE_CANCELED" && cancelled.has(id));
  const known = new Set([...accepted.map(({ name }) => name), ...unanswered]);
  const wrongEnds = [...ends].flatMap(([id, heard]) => heard.filter((end) => end !== found.get(id)?.status.state));
  const counts = {
    tasks: tasks.length,
    /** Of those whose answer did not arrive. */
    unansweredKept: tasks.length - accepted.length,
    lost,
    idsRepeated: accepted.length - new Set(accepted.map(({ id }) => id)).size + tasks.length - found.size,
    messagesTwice: names.length - new Set(names).size,
    states: Object.fromEntries(
      Object.entries(Object.groupBy(tasks, ({ status }) => status.state))
        .map(([state, all]) => [state, all!.length]),
    ),
    interrupted: interrupted.length,
    interruptedThatRan: interrupted.filter((task) => runsOf(nameOf(task)) > 0).length,
    canceled: canceled.length,
    canceledThatRan: canceled.filter((task) => runsOf(nameOf(task)) > 0).length,
    ranTwice: [...known].filter((name) => runsOf(name) > 1).length,
    completedWithoutRun: completed.filter((task) => runsOf(nameOf(task)) === 0).length,
  };
  const others = tasks.length - completed.length - interrupted.length - canceled.length;
  const wrong: [boolean, string][] = [
    [lost > 0, `${lost} accepted tasks are not there`],
    [exchanged > 0, `${exchanged} tasks have another message than their sender sent`],
    [counts.idsRepeated > 0, "an id was given twice"],
    [counts.messagesTwice > 0, "a message became two tasks"],
    [counts.ranTwice > 0, "a message ran twice"],
    [counts.completedWithoutRun > 0, "a task is completed and was never run"],
    [others > 0, `${others} tasks have not ended, or otherwise than they should`],
    [interrupted.length > kills, `${interrupted.length} tasks were interrupted by ${kills} kills`],
    [names.some((name) => !known.has(name)), "a task has a message that nobody sent"],
    [wrongEnds.length > 0, `${wrongEnds.length} readers heard another end than the task has`],
  ];
  return { ...counts, wrong: wrong.filter(([is]) => is).map(([, words]) => words) };
}

function isInterrupted({ status }: KilledTask): boolean {
  const words = status.message?.parts.map(({ text }) => text ?? "").join("") ?? "";
  return status.state === "TASK_STATE_FAILED" && words.startsWith("interrupted");
}

function nameOf({ history }: KilledTask): string {
  return /\/workdir\/([0-9a-z-]+)/.exec(history[0]?.parts[0]?.text ?? "")?.[1] ?? "";
}
