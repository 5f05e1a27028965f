import { newId, printableLine } from "../../base/mod.ts";
import { NOTICE_HEADERS } from "../../door/judge_notice.ts";
import type { Completion, CompletionStatus } from "../../records/mod.ts";
import type { SpawnerHandle } from "../../session/mod.ts";

/** What is told of an ending; what nobody knows is left out. */
export interface NoticeFields
  extends
    Pick<Completion, "delegation_id" | "capsule_name" | "capsule_version" | "session_id" | "detail">,
    Partial<Pick<Completion, "duration_ms" | "workdir">> {
  /** `unknown`: there is no record that can be read. */
  readonly status: CompletionStatus | "unknown";
}

/** Where a notice goes: to the context of the session that delegated. */
export type NoticeAddress = Required<SpawnerHandle>;

/** One A2A 1.0 `SendMessage`, ready to be posted. */
export interface NoticeRequest {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The notice in words: no result and no path to one. */
export function noticeText(fields: NoticeFields): string {
  const { delegation_id, session_id, status, duration_ms, workdir, detail } = fields;
  return [
    "Delegated capsule finished.",
    `delegation_id: ${delegation_id}`,
    `capsule: ${capsuleLabel(fields)}`,
    `session_id: ${session_id}`,
    `status: ${status}`,
    ...(duration_ms === undefined ? [] : [`duration_ms: ${duration_ms}`]),
    ...(workdir === undefined ? [] : [`workdir: ${printableLine(workdir, 4_096)}`]),
    ...(detail === undefined ? [] : [`detail: ${detail}`]),
  ].join("\n");
}

/** `worker@0.1.0`: the bare name, and what cannot stand in a line of the runtime's is `_`. */
export function capsuleLabel(
  { capsule_name, capsule_version }: Pick<Completion, "capsule_name" | "capsule_version">,
): string {
  const name = bareName(capsule_name);
  const label = capsule_version === "" ? name : `${name}@${capsule_version}`;
  return printableLine(label.replace(/[^\w.@+-]/gu, "_"), 200);
}

/** `local/worker` → `worker`. */
export function bareName(capsuleName: string): string {
  return capsuleName.slice(capsuleName.lastIndexOf("/") + 1);
}

/** The request that tells the parent's door, which answers at once. */
export function noticeRequest(fields: NoticeFields, { context_id, session_id }: NoticeAddress): NoticeRequest {
  const id = newId("req");
  const message = {
    messageId: newId("msg"),
    contextId: context_id,
    role: "ROLE_USER",
    parts: [{ text: noticeText(fields), mediaType: "text/plain" }],
  };
  const params = { message, configuration: { returnImmediately: true } };
  return {
    id,
    headers: {
      "content-type": "application/json",
      [NOTICE_HEADERS.version]: "1.0",
      [NOTICE_HEADERS.origin]: "completion",
      [NOTICE_HEADERS.delegation]: fields.delegation_id,
      [NOTICE_HEADERS.session]: session_id,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method: "SendMessage", params }),
  };
}
