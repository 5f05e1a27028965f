import type { Notice } from "../../supervisor/tree/mod.ts";
import { printAnswer, readWholeAnswer, reportAgentEnding } from "./agent_ending.ts";
import { progressLine } from "./agent_progress.ts";
import { onAbort } from "../tree/delegating_run.ts";
import { paintFor } from "../text/paint.ts";
import type { Starting } from "../tree/root_capsule.ts";
import { RootTree } from "../tree/root_tree.ts";
import { StdoutClosed } from "../verb.ts";

/** Whether somebody took the whole answer. */
function isPrinted(answer: string, starting: Starting): boolean {
  try {
    printAnswer(answer, starting);
    return true;
  } catch (error) {
    if (error instanceof StdoutClosed) return false;
    throw error;
  }
}

/** What a first Ctrl-C ends it for. */
export const INTERRUPTED = {
  status: "cancelled",
  ended_by: "interrupted",
  detail: "the run was interrupted",
} as const;

/**
 * One task of an agent: a session of its own below this process, which is its supervisor. Its answer goes to stdout, whole;
 * what happens meanwhile to a terminal's stderr. Gives the exit status.
 * @throws `component.*`, `grant.import_not_granted`, `secret.unusable`, `lock.*`, `hull.*`
 */
export async function runAgent(starting: Starting, task: string): Promise<number> {
  const { args, context, interrupts } = starting;
  const paint = paintFor(context.stderr, context);
  const follows = context.stderr.isTerminal && !args.has("quiet") && !args.has("json");
  const onNotice = (notice: Notice) => {
    const line = follows ? progressLine(notice, paint) : undefined;
    if (line !== undefined) context.stderr.write(`${line}\n`);
  };
  const lived = await live();
  const isUnread = !isPrinted(readWholeAnswer(lived.places), starting);
  return reportAgentEnding({ starting, ...lived, isUnread });

  /** Nothing of it is left when this settles. */
  async function live() {
    await using tree = await RootTree.open({ starting, onNotice });
    const child = tree.start(task);
    onAbort(interrupts.first, () => void tree.supervisor.stop(child.path, INTERRUPTED));
    onAbort(interrupts.second, () => tree.supervisor.killNow(INTERRUPTED));
    const ending = await child.ended;
    return { ending, places: tree.places, treeTokens: tree.supervisor.budget.spent };
  }
}
