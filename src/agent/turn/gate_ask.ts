import { aborted } from "../loop/mod.ts";
import type { SessionControl } from "../../session/role.ts";
import type { AskUser } from "../tools/own_tools.ts";

/** Asks by gates of the control protocol, one after the other. */
export function gateAsk(control: Pick<SessionControl, "say" | "inbox">): AskUser {
  let opened = 0;
  return oneByOne(async (question, signal) => {
    if (signal.aborted || control.inbox === undefined) return { refused: "nobody can answer any more" };
    const node = `ask-${++opened}`;
    const answer = control.inbox.answerTo(node);
    control.say({ type: "gate", node, payload: { question } });
    const text = await Promise.race([answer, aborted(signal)]);
    control.say({ type: "gate_closed", node, via: text === undefined ? "timeout" : "reply" });
    return text === undefined ? { refused: "nobody answered in time" } : { text, isForeign: false };
  });
}

/** Whoever answers is asked one question after the other: tools that run together may each have one. */
export function oneByOne(ask: AskUser): AskUser {
  let last: Promise<unknown> = Promise.resolve();
  return (question, signal) => {
    const asked = last.then(() => ask(question, signal));
    last = asked.catch(() => {});
    return asked;
  };
}
