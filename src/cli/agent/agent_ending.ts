import { EXIT_STATUS, exitCodeOf, printable, printableJson, printableLine } from "../../base/mod.ts";
import { readText } from "../../manifest/mod.ts";
import { findSessionEnd, type SessionPlaces } from "../../records/mod.ts";
import type { ChildEnding } from "../../supervisor/tree/mod.ts";
import type { Starting } from "../tree/root_capsule.ts";
import { EXIT_STDOUT_CLOSED } from "../verb.ts";

/** A longer answer is no answer of ours, bytes. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** What a person reads of a status. */
export const STATUS_WORDS: Partial<Record<string, string>> = {
  exhausted_steps: "it used up its rounds",
  exhausted_tokens: "it used up its tokens",
  deadline: "ended at its deadline",
  stalled: "its model says nothing",
  loop_detected: "it did the same again and again",
  refused: "its model declined",
  cancelled: "interrupted",
  crashed: "the session crashed",
};

/** The exit status of an agent's session: that of what went wrong with its model, if anything did. */
export function agentExitCode({ status, ended_by, error }: Pick<ChildEnding, "status" | "ended_by" | "error">): number {
  const own = error !== undefined && status === "failed" && Object.hasOwn(EXIT_STATUS, error.code);
  return own ? EXIT_STATUS[error.code as keyof typeof EXIT_STATUS] : exitCodeOf(status, ended_by);
}

/**
 * The whole answer that a session left in its records; read when it is gone. Nothing when it left none, and where it put a
 * link in place of a folder.
 */
export function readWholeAnswer(places: Pick<SessionPlaces, "records" | "out"> | undefined): string {
  if (places === undefined) return "";
  try {
    if (![places.records, places.out].every((folder) => Deno.lstatSync(folder).isDirectory)) return "";
    return readText(`${places.out}/result.txt`, { code: "records.unreadable", maxBytes: MAX_ANSWER_BYTES }).text;
  } catch {
    return "";
  }
}

/** Why it ended so, as its record has it: the loop's reason, or its model's where that gave one. */
export function recordedDetail(places: Pick<SessionPlaces, "trace"> | undefined): string | undefined {
  try {
    const detail = places === undefined ? undefined : findSessionEnd(places.trace)?.["detail"];
    // Its deadline needs no more words.
    return typeof detail === "string" && detail !== "the deadline passed" ? detail : undefined;
  } catch {
    return undefined; // how it ended is said all the same
  }
}

/** Writes an answer to stdout, with a newline at its end: as it is, and safe on a terminal, which does what it is told. */
export function printAnswer(answer: string, { context: { stdout } }: Pick<Starting, "context">): void {
  if (answer === "") return;
  const text = stdout.isTerminal ? printable(answer) : answer;
  stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** What there is to say of the end of an agent's session. */
export interface AgentEnding {
  readonly starting: Starting;
  readonly ending: ChildEnding;
  readonly places: SessionPlaces | undefined;
  /** What it and all that it delegated to spent. */
  readonly treeTokens: number;
  /** Nobody read its answer to the end. */
  readonly isUnread?: boolean;
}

/** Says on stderr how it ended: with `--json` one object on every ending, else one line where it did not end well. */
export function reportAgentEnding({ starting, ending, places, treeTokens, isUnread = false }: AgentEnding): number {
  const { args, context, containment } = starting;
  const exit_code = isUnread ? EXIT_STDOUT_CLOSED : agentExitCode(ending);
  const ended_by = isUnread ? "stdout_closed" : ending.ended_by;
  const { status, error, outcome, duration_ms, tokens_in, tokens_out, session_id } = ending;
  const detail = error?.message ?? ending.detail ?? recordedDetail(places);
  if (args.has("json")) {
    const report = {
      session_id,
      status,
      exit_code,
      ended_by,
      ...(detail === undefined ? {} : { detail }),
      ...(error === undefined ? {} : { code: error.code }),
      ...(outcome?.partial === true ? { partial: true } : {}),
      usage: { input_tokens: tokens_in, output_tokens: tokens_out },
      tree_tokens: treeTokens,
      duration_ms,
      containment: containment.achieved,
      trace: places?.trace ?? "",
    };
    context.stderr.write(`${printableJson(report)}\n`);
  } else if (exit_code !== 0 && !isUnread) {
    const partial = outcome?.partial === true ? ", the answer is not the whole one" : "";
    const word = STATUS_WORDS[status] ?? (error === undefined ? status : printableLine(error.message, 400));
    const why = error === undefined && detail !== undefined ? ` (${printableLine(detail, 400)})` : "";
    const see = session_id === "" ? "" : `; see \`boll trace show ${session_id}\``;
    context.stderr.write(`boll: ${word}${why}${partial}${see}\n`);
  }
  return exit_code;
}
