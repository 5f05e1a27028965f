import { distil } from "../../protocol/control/mod.ts";
import type { Delegator } from "../delegations/delegator.ts";
import { deniedEvent } from "../cell/denied_event.ts";
import { findCommand } from "./find_command.ts";
import { upstreamOf } from "../network/payload_upstream.ts";
import { refuseUnsupported } from "./refuse_unsupported.ts";
import { runCaptured } from "../cell/run_captured.ts";
import type { RoleResult, SessionWork } from "../control/session_work.ts";

/**
 * The role `command`: one cell, whose guest reads the instruction on its stdin; what it writes on stdout is the answer.
 * The capsule must be the one that was meant, and its component must have been built: a session builds none.
 *
 * @throws `capsule.*`, `component.*`, `grant.*`, `hull.failed`, `cell.start_failed`, `payload.unsupported`
 */
export async function runCommandSession(work: SessionWork): Promise<RoleResult> {
  const { payload, places, plan, trace, control } = work;
  refuseUnsupported(payload);
  const { component } = await findCommand(payload, plan.grants);
  const result = await runCaptured({
    plan,
    component,
    envValues: Object.fromEntries(payload.env),
    places,
    trace,
    kernel: work.kernel,
    ...(work.hull === undefined ? {} : { hull: work.hull }),
    ...upstreamOf(payload),
    ...await delegatorOf(work),
    tmp: work.tmp,
    interrupt: control.signal,
    input: payload.instruction,
    pause: control.pause,
    onDenied: (denied) => trace.append("denied", deniedEvent(denied)),
    onReady: () => control.sayReady(),
  });
  if (result.failure !== undefined) throw result.failure;
  return { outcome: result.outcome, answer: distil(result.head), ...(result.usage ? { usage: result.usage } : {}) };
}

/** Only a session that may delegate loads what that takes. */
async function delegatorOf({ plan, trace, control }: SessionWork): Promise<{ delegator?: Delegator }> {
  if (plan.grants.spawn.length === 0) return {};
  const { remoteLauncher } = await import("../delegations/remote_launcher.ts");
  const { recordedDelegator } = await import("../delegations/recorded_delegator.ts");
  return { delegator: recordedDelegator(remoteLauncher(control.requests), trace) };
}
