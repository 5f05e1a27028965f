import { EXIT_STATUS, STATUS_EXIT } from "../../base/mod.ts";
import { distil, type TurnResult } from "../../protocol/control/mod.ts";
import { ResultFile, type SessionPaths } from "../../records/mod.ts";
import type { Outcome, RoleResult } from "../../session/role.ts";
import type { TurnEnd } from "../loop/mod.ts";

/** Failures that are none of the task's: the session's last word is then that it failed. */
const INFRASTRUCTURE = /^(model\.|internal$)/;

/** How a turn ended, in the words of the records. */
export function outcomeOf({ status, reason, error }: TurnEnd): Outcome {
  const known = error !== undefined && Object.hasOwn(EXIT_STATUS, error.code);
  return {
    status,
    exit_code: known ? EXIT_STATUS[error.code as keyof typeof EXIT_STATUS] : STATUS_EXIT[status],
    ended_by: endedBy(status),
    ...(reason === undefined ? {} : { detail: reason }),
  };
}

/** The answer as whoever asked gets it, and whether it is the whole of it. */
export function answerOf(
  { status, text = "", value }: TurnEnd,
): { readonly answer: unknown; readonly isPartial: boolean } {
  return { answer: value ?? distil(text), isPartial: status !== "completed" && text !== "" };
}

/** What a one-shot session says of its only turn. */
export function roleResultOf(end: TurnEnd): RoleResult {
  const { error } = end;
  const isFailure = error !== undefined && INFRASTRUCTURE.test(error.code);
  return { outcome: outcomeOf(end), ...answerOf(end), ...(isFailure ? { failure: error } : {}) };
}

/** The turn as it goes onto the wire. */
export function turnResultOf({ reason: _, bug: __, ...turn }: TurnEnd): TurnResult {
  return turn;
}

/** Keeps the answer in the records, each time whole: as the session's, and as the task's. @throws `home.unwritable` */
export function keepAnswer(places: Pick<SessionPaths, "out">, taskId: string, { text = "" }: TurnEnd): void {
  const bytes = new TextEncoder().encode(text);
  for (const name of ["result.txt", `result_${taskId}.txt`]) {
    using file = ResultFile.open(places, name);
    file.write(bytes);
    file.commit();
  }
}

function endedBy(status: TurnEnd["status"]): Outcome["ended_by"] {
  switch (status) {
    case "deadline":
    case "refused":
    case "crashed":
      return status;
    case "cancelled":
      return "interrupted";
    default:
      return "guest";
  }
}
