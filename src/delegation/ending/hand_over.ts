import { fence } from "../../base/mod.ts";
import { bareName, capsuleLabel, type NoticeFields, noticeText } from "../notice/notice.ts";
import { type Answer, resultBlock } from "./read_answer.ts";

/** How one delegation ended, and what it answered. */
export interface DelegationOutcome {
  readonly ended: NoticeFields;
  readonly answer: Pick<Answer, "text">;
}

/**
 * What the delegating agent reads: for each outcome one line of the runtime's own, then everything
 * that a child could have had a word in, fenced.
 */
export function handOver(outcomes: readonly DelegationOutcome[]): string {
  return outcomes.map(({ ended, answer }) => {
    const line = `[delegate-task] delegation ${ended.delegation_id} to ${capsuleLabel(ended)} ended ${ended.status}:`;
    const source = { kind: "delegation", name: bareName(ended.capsule_name) } as const;
    return `${line}\n${fence(source, `${noticeText(ended)}\n${resultBlock(answer)}`)}`;
  }).join("\n\n");
}
