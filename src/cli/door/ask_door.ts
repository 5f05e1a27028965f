import { CapsuleError, printable, printableJson, printableLine } from "../../base/mod.ts";
import type { DoorClient, TaskFile, TaskNews, TaskView } from "../../door/client/mod.ts";
import { openHome } from "../../records/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { findDoor } from "./find_door.ts";
import { saveFile } from "./save_file.ts";
import type { Context, Option } from "../verb.ts";

/** Flags of every verb that asks a door. */
export const DOOR_OPTIONS: readonly Option[] = [
  { name: "token", value: "TOKEN", summary: "Show this token (BOLL_TOKEN; of an own door, found)" },
  { name: "json", summary: "Print JSON" },
];

/** How WHOM is named. */
export const DOOR_NOTES: readonly string[] = [
  "DOOR is a URL, the name of a service (`boll serve --name`), or a session.",
];

/** These would send a token through a stranger's proxy. */
const PROXY_VARIABLES = ["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);

/** Asks the door that was named, with what opens it. @throws `service.not_found`, `records.not_found`, `door.*` */
export async function openDoorClient(wanted: string, args: Arguments, context: Context): Promise<DoorClient> {
  const found = findDoor(openHome(context.readVariable), wanted);
  const token = args.value("token") ?? (context.readVariable("BOLL_TOKEN") || found.token);
  const signal = context.watchInterrupt?.();
  for (const name of PROXY_VARIABLES) Deno.env.delete(name);
  const { DoorClient } = await import("../../door/client/mod.ts");
  return await DoorClient.open({
    url: found.url,
    ...(token === undefined ? {} : { token }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Exit status of a task's state when nothing more is heard of it (README, "Exit codes"): one that asks is not done. */
const EXIT_OF: Readonly<Record<TaskView["state"], number>> = {
  submitted: 4,
  working: 4,
  completed: 0,
  failed: 1,
  rejected: 5,
  canceled: 130,
  input_required: 3,
};

/** Options of {@link tell}. */
export interface TellOptions {
  /** Each piece as it comes, and not only what there is at the end. */
  readonly streams: boolean;
  readonly asJson: boolean;
  /** Where files are saved. */
  readonly filesTo?: string;
}

/**
 * Prints what becomes of a task: its answer on stdout, all else on stderr. Gives the exit status. Foreign text is made
 * safe for a terminal, and for nobody else.
 */
export async function tell(
  news: AsyncIterable<TaskNews>,
  context: Context,
  { streams, asJson, filesTo }: TellOptions,
): Promise<number> {
  const teller = new Teller(context, asJson, filesTo);
  try {
    for await (const one of news) teller.hear(one, streams);
  } catch (error) {
    if (error instanceof CapsuleError && error.code === "door.interrupted") teller.leave();
    throw error;
  }
  return teller.end(streams);
}

class Teller {
  readonly #context: Context;
  readonly #asJson: boolean;
  readonly #filesTo: string | undefined;
  #task: Omit<TaskView, "answer" | "files"> | undefined;
  #answer: string | undefined;
  readonly #files: TaskFile[] = [];
  #toldReason = "";
  #isMidLine = false;

  constructor(context: Context, asJson: boolean, filesTo: string | undefined) {
    this.#context = context;
    this.#asJson = asJson;
    this.#filesTo = filesTo;
  }

  hear(news: TaskNews, streams: boolean): void {
    switch (news.kind) {
      case "task": {
        const { answer, files, ...task } = news.task;
        this.#task = task;
        if (news.hasGap) this.#tellGap(streams);
        this.#files.push(...files);
        const before = this.#answer ?? "";
        if (answer !== undefined) this.#answer = answer;
        const gap = news.hasGap ? { gap: true } : {};
        if (streams && this.#asJson) this.#line({ ...task, ...(answer === undefined ? {} : { answer }), ...gap });
        else if (streams && answer !== undefined) {
          this.#say(answer.startsWith(before) ? answer.slice(before.length) : answer);
        }
        break;
      }
      case "state":
        this.#task = news.task;
        if (streams) this.#tellState(news.task);
        break;
      case "output":
        // The whole comes at the end, and was heard by then if it came in pieces.
        if (streams && !(news.isWhole && this.#answer !== undefined)) {
          if (this.#asJson) this.#line({ output: news.text });
          else this.#say(news.text);
        }
        this.#answer = news.isWhole ? news.text : (this.#answer ?? "") + news.text;
        break;
      case "file":
        this.#files.push(news.file);
        if (streams && this.#asJson) this.#line({ file: shown(news.file) });
        break;
    }
  }

  end(streams: boolean): number {
    const task = this.#task;
    if (task === undefined) throw new CapsuleError("door.refused", "Follow a task: the stream ended without a word");
    const saved = this.#filesTo === undefined ? [] : this.#files.map((file) => saveFile(this.#filesTo!, file));
    if (this.#asJson) {
      const answer = this.#answer === undefined ? {} : { answer: this.#answer };
      const files = this.#files.map((file, at) => ({ ...shown(file), ...(saved[at] ? { path: saved[at] } : {}) }));
      this.#line({ ...task, ...answer, files });
    } else {
      if (!streams && this.#answer !== undefined) this.#say(this.#answer);
      this.#endLine();
      this.#tellFiles(saved);
      this.#tellEnd(task);
    }
    return EXIT_OF[task.state];
  }

  /** Nobody waits any more, and the task goes on. */
  leave(): void {
    const task = this.#task;
    if (task === undefined || this.#asJson) return;
    const id = printableLine(task.task_id, 200);
    this.#endLine();
    this.#context.stderr.write(
      `boll: ${id} is ${task.state} and goes on; \`boll watch DOOR ${id}\` follows it, \`boll cancel DOOR ${id}\` ends it\n`,
    );
  }

  #tellState(task: Omit<TaskView, "answer" | "files">): void {
    if (this.#asJson) return this.#line(task);
    const { state, reason = "" } = task;
    if (reason === "" || state !== "working" || reason === this.#toldReason) return;
    this.#toldReason = reason;
    this.#endLine();
    this.#context.stderr.write(`boll: ${printableLine(reason, 1_000)}\n`);
  }

  /** What was told before the gap is in what follows, and so are its files. */
  #tellGap(streams: boolean): void {
    this.#files.length = 0;
    if (this.#asJson || !streams) return;
    this.#endLine();
    this.#context.stderr.write("boll: the connection was lost for a while, and some of what was said with it\n");
  }

  #tellFiles(saved: readonly string[]): void {
    for (const [at, file] of this.#files.entries()) {
      const where = saved[at] === undefined ? "; --files DIR saves it" : `: ${printableLine(saved[at], 400)}`;
      this.#context.stderr.write(`boll: file ${printableLine(file.name, 200)}, ${file.bytes.length} bytes${where}\n`);
    }
  }

  #tellEnd({ task_id, state, reason }: Omit<TaskView, "answer" | "files">): void {
    if (state === "completed") return;
    const why = reason === undefined ? "" : `: ${printableLine(reason, 1_000)}`;
    const id = printableLine(task_id, 200);
    this.#context.stderr.write(`boll: ${howItStands(state, id, why)}\n`);
  }

  #say(text: string): void {
    const { stdout } = this.#context;
    stdout.write(stdout.isTerminal ? printable(text) : text);
    if (text !== "") this.#isMidLine = stdout.isTerminal === true && !text.endsWith("\n");
  }

  /** On a terminal what boll says begins a line. */
  #endLine(): void {
    if (this.#isMidLine) this.#context.stdout.write("\n");
    this.#isMidLine = false;
  }

  #line(value: object): void {
    this.#context.stdout.write(`${printableJson(value)}\n`);
  }
}

function shown({ name, media_type, bytes }: TaskFile): Record<string, unknown> {
  return { name, media_type, size: bytes.length };
}

function howItStands(state: TaskView["state"], id: string, why: string): string {
  if (state === "input_required") return `it asks${why}; answer with --task ${id}`;
  if (state !== "submitted" && state !== "working") return `${id} ${state}${why}`;
  return `${id} is ${state}${why}, but nothing more is heard of it; \`boll watch DOOR ${id}\` asks again`;
}
