import type { DelegateCall, DelegateRefusal } from "../../protocol/mod.ts";
import type { TraceWriter } from "../../records/mod.ts";
import type { ChildLauncher, ChildStarted } from "./child_launcher.ts";
import type { Delegator } from "./delegator.ts";

/** A run's delegator: what it asks of the launcher, and what becomes of it, is in the run's trace. */
export function recordedDelegator(launcher: ChildLauncher, trace: Pick<TraceWriter, "append">): Delegator {
  return new RecordedDelegator(launcher, trace);
}

class RecordedDelegator implements Delegator {
  readonly #launcher: ChildLauncher;
  readonly #trace: Pick<TraceWriter, "append">;
  /** The sessions of what is under way, by delegation. */
  readonly #children = new Map<string, string>();

  constructor(launcher: ChildLauncher, trace: Pick<TraceWriter, "append">) {
    this.#launcher = launcher;
    this.#trace = trace;
  }

  async start(call: DelegateCall): Promise<ChildStarted | DelegateRefusal> {
    const answer = await this.#launcher.start(call);
    if ("kind" in answer) {
      const { kind, message } = answer;
      this.#trace.append("delegation_refused", { capsule: call.capsule, kind, reason: message });
    } else {
      const { delegation_id, session_id, capsule, version, deadline_ms } = answer;
      this.#children.set(delegation_id, session_id);
      const started = { delegation_id, child_session_id: session_id, capsule, version, deadline_ms };
      this.#trace.append("delegation_start", started);
    }
    return answer;
  }

  async ended(delegationId: string): Promise<string> {
    const { text, status, duration_ms } = await this.#launcher.ended(delegationId);
    const child = this.#children.get(delegationId);
    this.#children.delete(delegationId);
    const who = { delegation_id: delegationId, ...(child === undefined ? {} : { child_session_id: child }) };
    this.#trace.append("delegation", { ...who, status, duration_ms });
    return text;
  }
}
