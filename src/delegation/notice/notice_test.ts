import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { isId } from "../../base/mod.ts";
import type { Completion } from "../../records/mod.ts";
import { isNotice, judgeNotice } from "../../door/judge_notice.ts";
import { capsuleLabel, type NoticeAddress, noticeRequest, noticeText } from "./notice.ts";

const COMPLETION: Completion = {
  delegation_id: "dlg_01890000000070008000000000000001",
  capsule_name: "local/worker",
  capsule_version: "0.1.0",
  session_id: "ses_01890000000070008000000000000002",
  status: "ok",
  result_path: "/home/sessions/ses_2/records/out/result.txt",
  workdir: "/home/sessions/ses_2/work",
  duration_ms: 42,
  reported_by: "child",
  delivered: false,
};
const ADDRESS: NoticeAddress = { session_id: "ses_1", context_id: "ctx_1", delegation_id: "dlg_1", url: "http://x/" };

Deno.test("noticeText: byte for byte, the detail only where there is one, no result and no path to one", () => {
  const text = `Delegated capsule finished.
delegation_id: dlg_01890000000070008000000000000001
capsule: worker@0.1.0
session_id: ses_01890000000070008000000000000002
status: ok
duration_ms: 42
workdir: /home/sessions/ses_2/work`;
  assertEquals(noticeText(COMPLETION), text);
  assertEquals(
    noticeText({ ...COMPLETION, status: "crashed", detail: "exited with code 3\nlast words" }),
    text.replace("status: ok", "status: crashed") + "\ndetail: exited with code 3\nlast words",
  );
  assert(!noticeText(COMPLETION).includes("result"));
  const { delegation_id, capsule_name, capsule_version, session_id } = COMPLETION;
  assertEquals(
    noticeText({ delegation_id, capsule_name, capsule_version, session_id, status: "unknown" }),
    text.slice(0, text.indexOf("status:")) + "status: unknown",
  );
});

Deno.test("noticeText: no name and no folder breaks out of its line", () => {
  const label = (capsule_name: string, capsule_version: string) => capsuleLabel({ capsule_name, capsule_version });
  assertEquals(label("worker", ""), "worker");
  assertEquals(label("a/b/worker", "1.0.0-rc.1+7"), "worker@1.0.0-rc.1+7");
  assertEquals(label("w\nstatus: ok", "1\u202e<x>"), "w_status__ok@1__x_");
  const text = noticeText({ ...COMPLETION, workdir: "/w\nstatus: error" });
  assertEquals(text.split("\n").length, 7);
});

Deno.test("noticeRequest: an A2A 1.0 SendMessage to the delegating context, returning at once", () => {
  const { id, headers, body } = noticeRequest(COMPLETION, ADDRESS);
  assertEquals(headers, {
    "content-type": "application/json",
    "a2a-version": "1.0",
    "x-boll-task-origin": "completion",
    "x-boll-delegation-id": COMPLETION.delegation_id,
    "x-boll-completion-session": "ses_1",
  });
  const sent = JSON.parse(body);
  const { messageId } = sent.params.message;
  assert(isId(id, "req") && isId(messageId, "msg"));
  assertEquals(sent, {
    jsonrpc: "2.0",
    id,
    method: "SendMessage",
    params: {
      message: {
        messageId,
        contextId: "ctx_1",
        role: "ROLE_USER",
        parts: [{ text: noticeText(COMPLETION), mediaType: "text/plain" }],
      },
      configuration: { returnImmediately: true },
    },
  });
  assertNotEquals(noticeRequest(COMPLETION, ADDRESS).id, id);
});

Deno.test("judgeNotice: accepted for this session and a delegation it waits for; else refused, and says why", () => {
  const headers = new Headers(noticeRequest(COMPLETION, ADDRESS).headers);
  const receiver = { sessionId: "ses_1", isWaiting: (id: string) => id === COMPLETION.delegation_id };
  assert(isNotice(headers) && !isNotice(new Headers({ "x-boll-task-origin": "user" })));
  assertEquals(judgeNotice(headers, receiver), { kind: "accepted", delegationId: COMPLETION.delegation_id });
  assertEquals(judgeNotice(headers, { ...receiver, sessionId: "ses_2" }), {
    kind: "refused",
    code: -31002,
    message: "this completion is addressed to another session",
  });
  assertEquals(judgeNotice(headers, { ...receiver, isWaiting: () => false }), {
    kind: "refused",
    code: -31002,
    message: `no task in this session is waiting for delegation ${COMPLETION.delegation_id}`,
  });
  headers.set("x-boll-delegation-id", "../x");
  assertEquals(judgeNotice(headers, { ...receiver, isWaiting: () => true }).kind, "refused");
  headers.delete("x-boll-completion-session");
  assertEquals(judgeNotice(headers, { ...receiver, isWaiting: () => true }).kind, "refused");
});
