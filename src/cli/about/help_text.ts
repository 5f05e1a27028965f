import type { Option, Verb } from "../verb.ts";
import { VERBS } from "../verbs.ts";

/** What help fits into: a plain terminal. */
export const HELP_COLUMNS = 80;
export const HELP_LINES = 24;

const HELP_OPTION: Option = { name: "help", summary: "Show this help" };

/** The overview: every verb in one line. */
export function overviewHelp(): string {
  const rows = VERBS.map(({ name, summary }) => [`  ${name}`, summary] as const);
  return [
    "boll packages a program or an AI agent as a capsule and runs it with exactly",
    "the authority that its manifest names.",
    "",
    "Usage: boll VERB [options]",
    "",
    "Verbs:",
    ...columns(rows),
    "",
    "`boll VERB --help` shows what a verb takes. Exits with the guest's status, or",
    "0 done, 1 failed, 2 usage, 3 it asks, stalls or loops, 4 unreachable, 5 refused,",
    "7 its budget, 8 a limit, 124 the deadline, 130 interrupted, 141 stdout closed.",
    "",
  ].join("\n");
}

/** Help of one verb, within one screen. */
export function verbHelp(verb: Verb): string {
  const shown = verb.options.filter(({ isNoted }) => isNoted !== true);
  const rows = [...shown, HELP_OPTION].map((option) => [`  ${flagOf(option)}`, option.summary] as const);
  const notes = verb.notes === undefined ? [] : ["", ...verb.notes];
  const summary = `${verb.summary}.`;
  return [summary, "", `Usage: boll ${verb.usage}`, "", "Options:", ...columns(rows), ...notes, ""].join("\n");
}

function flagOf(option: Option): string {
  if (option === HELP_OPTION) return "-h, --help";
  return option.value === undefined ? `--${option.name}` : `--${option.name} ${option.value}`;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => left.padEnd(width) + right);
}
