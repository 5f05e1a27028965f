import { isId } from "../base/mod.ts";

/** Header names of a notice. */
export const NOTICE_HEADERS = {
  version: "a2a-version",
  origin: "x-boll-task-origin",
  delegation: "x-boll-delegation-id",
  session: "x-boll-completion-session",
} as const;

/** What is read of a request's fields. */
type FieldReader = Pick<Headers, "get">;

/** JSON-RPC error of a notice that nobody waits for. */
export const NOBODY_WAITS = -31002;

/** What a door makes of a notice: which delegation to look at, or why it is refused. */
export type NoticeVerdict =
  | { readonly kind: "accepted"; readonly delegationId: string }
  | { readonly kind: "refused"; readonly code: typeof NOBODY_WAITS; readonly message: string };

/** The session behind a door. */
export interface NoticeReceiver {
  readonly sessionId: string;
  /** Whether a task of this session waits for the delegation. */
  isWaiting(delegationId: string): boolean;
}

/** Whether a request says of itself that it is a completion. */
export function isNotice(headers: FieldReader): boolean {
  return headers.get(NOTICE_HEADERS.origin) === "completion";
}

/**
 * Judges a notice by its headers, before its body is read. It is only a nudge: what it says is re-read from the record
 * once the child is reaped, so that a forged or early one changes nothing.
 */
export function judgeNotice(headers: FieldReader, { sessionId, isWaiting }: NoticeReceiver): NoticeVerdict {
  const delegationId = headers.get(NOTICE_HEADERS.delegation) ?? "";
  const refuse = (message: string) => ({ kind: "refused", code: NOBODY_WAITS, message }) as const;
  if (headers.get(NOTICE_HEADERS.session) !== sessionId) {
    return refuse("this completion is addressed to another session");
  }
  const named = isId(delegationId, "dlg") ? delegationId : "(not an id)";
  if (named !== delegationId || !isWaiting(delegationId)) {
    return refuse(`no task in this session is waiting for delegation ${named}`);
  }
  return { kind: "accepted", delegationId };
}
