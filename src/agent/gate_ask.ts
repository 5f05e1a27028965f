import { aborted } from "./loop/mod.ts";
import type { SessionControl } from "../session/role.ts";
import type { AskUser } from "./own_tools.ts";

/** Asks by gates of the control protocol, one after the other. */
export function gateAsk(control: Pick<SessionControl, "say" | "inbox">): AskUser {
  let opened = 0;
  let last: Promise<unknown> = Promise.resolve();
  const ask = async (question: string, signal: AbortSignal): ReturnType<AskUser> => {
    if (signal.aborted || control.inbox === undefined) return { refused: "nobody can answer any more" };
    const node = `ask-${++opened}`;
    const answer = control.inbox.answerTo(node);
    control.say({ type: "gate", node, payload: { question } });
    const text = await Promise.race([answer, aborted(signal)]);
    control.say({ type: "gate_closed", node, via: text === undefined ? "timeout" : "reply" });
    return text === undefined ? { refused: "nobody answered in time" } : { text, isForeign: false };
  };
  return (question, signal) => {
    const asked = last.then(() => ask(question, signal));
    last = asked.catch(() => {});
    return asked;
  };
}
