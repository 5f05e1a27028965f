import { CapsuleError } from "../../base/mod.ts";
import { decodeDelegationId, decodeRefusal, type DelegateCall, Fields, MAX_END_TEXT } from "../../protocol/mod.ts";
import { type ChildEnded, type ChildLauncher, type ChildStarted, DELEGATION_TOOLS } from "./child_launcher.ts";
import type { ToolRequests } from "../control/tool_requests.ts";

const SHORT = { max: 256 };

/** The launcher of a session process: its supervisor, asked by tool requests. */
export function remoteLauncher(requests: Pick<ToolRequests, "ask">): ChildLauncher {
  return {
    async start(call: DelegateCall) {
      const { result, is_error } = await requests.ask(DELEGATION_TOOLS.start, call);
      if (!is_error) return decodeStarted(new Fields(result, "result"));
      // What is no refusal of the launcher's is one of the supervisor's own, before it came to that.
      if (typeof result === "object") return decodeRefusal(new Fields(result, "result"));
      return { kind: "failed", message: `Delegate: ${String(result).slice(0, 1_000)}` };
    },
    async ended(delegation_id: string) {
      const { result, is_error } = await requests.ask(DELEGATION_TOOLS.ended, { delegation_id });
      if (is_error) throw new CapsuleError("protocol.unexpected", `Wait for ${delegation_id}: the supervisor refused`);
      return decodeEnded(new Fields(result, "result"));
    },
    async stop(delegation_id: string) {
      await requests.ask(DELEGATION_TOOLS.stop, { delegation_id });
    },
  };
}

function decodeStarted(fields: Fields): ChildStarted {
  return {
    delegation_id: decodeDelegationId(fields),
    session_id: fields.string("session_id", SHORT),
    capsule: fields.string("capsule", SHORT),
    version: fields.string("version", SHORT),
    deadline_ms: fields.integer("deadline_ms"),
  };
}

function decodeEnded(fields: Fields): ChildEnded {
  return {
    text: fields.string("text", { max: MAX_END_TEXT }),
    status: fields.string("status", SHORT),
    duration_ms: fields.integer("duration_ms"),
  };
}
