/** The one human gate that may be open in a session. */
export interface OpenGate {
  readonly node: string;
  readonly payload: unknown;
  /** A reply was taken and sent; the session has not yet said what closed the gate. */
  readonly replied: boolean;
}

/** What became of a reply: only `taken` was sent to the session. */
export type ReplyVerdict = "taken" | "already_replied" | "not_open";

/** What closed a gate; `ended` is the supervisor's word for a session that died with the gate open. */
export type GateVia = "reply" | "uri" | "timeout" | "ended";

/** Opens a gate, or says that one is open already. */
export function openGate(gate: OpenGate | undefined, node: string, payload: unknown): OpenGate | "second_gate" {
  return gate === undefined ? { node, payload, replied: false } : "second_gate";
}

/** Takes a reply once. One that comes before its gate is not kept: it would answer a question that nobody has read. */
export function replyToGate(
  gate: OpenGate | undefined,
  node: string,
): { readonly gate: OpenGate | undefined; readonly verdict: ReplyVerdict } {
  if (gate === undefined || gate.node !== node) return { gate, verdict: "not_open" };
  if (gate.replied) return { gate, verdict: "already_replied" };
  return { gate: { ...gate, replied: true }, verdict: "taken" };
}

/**
 * Closes the gate by what won in the session. `undelivered`: a reply was taken, and a resource, the timeout or the
 * session's end was first, so that whoever replied has to be told.
 */
export function closeGate(
  gate: OpenGate | undefined,
  node: string,
  via: GateVia,
): { readonly undelivered: boolean } | "no_such_gate" {
  if (gate === undefined || gate.node !== node) return "no_such_gate";
  return { undelivered: gate.replied && via !== "reply" };
}
