import {
  type AgentMsg,
  isTerminalMessage,
  matchesTool,
  type TerminalMsg,
  type UnknownMessage,
} from "../../protocol/control/mod.ts";
import { breakProtocol, leaveAfterLastWord, still, then } from "./child_ladder.ts";
import { receiveOutcome } from "./child_outcome.ts";
import type { ChildEffect, ChildState, Step, ToolRequest } from "./child_state.ts";
import { FLOW_PER_SECOND, takeOne } from "./flow.ts";
import { closeGate, openGate } from "./gates.ts";

/** Requests of one child that may wait for their answers at once. */
export const MAX_PENDING = 256;
/** Unknown types that are told apart in the log. */
const MAX_UNKNOWN_TAGS = 16;
/** The event of a session with a door when a turn begins. */
const TURN_START = "turn.start";

type Frame<T extends AgentMsg["type"]> = Extract<AgentMsg, { type: T }>;

/** The child has said something. What it says of itself changes nothing of what was minted for it. */
export function hear(state: ChildState, message: AgentMsg | UnknownMessage, nowMs: number): Step {
  if (state.phase === "ended") return dropFrame(state);
  if (message.type === "usage") return spend(state, message, nowMs);
  if (state.broken) return dropFrame(state);
  if (message.type === "unknown") return countUnknown(state, message.tag);
  if (message.type === "pong") return hearPong(state, message.seq, nowMs);
  if (isTerminalMessage(message)) return hearLastWord(state, message, nowMs);
  if (state.readyMs === undefined && message.type !== "ready" && !isUp(message)) {
    return breakProtocol(state, `the session said ${message.type} before it was ready`, nowMs);
  }
  if (message.type === "event") return hearEvent(state, message, nowMs);
  return hearWork({ ...state, progressMs: nowMs }, message, nowMs);
}

function hearWork(
  state: ChildState,
  message: Exclude<AgentMsg, TerminalMsg | Frame<"usage" | "pong" | "event">>,
  nowMs: number,
): Step {
  switch (message.type) {
    case "ready":
      return hearReady(state, nowMs);
    case "tool_request":
    case "budget_request":
      return hearRequest(state, message, nowMs);
    default:
      return hearNews(state, message, nowMs);
  }
}

/** Unlike an event, none of these can be left out; a child that says more of them than anybody could follow is none of ours. */
function hearNews(
  state: ChildState,
  message: Frame<"turn" | "gate" | "gate_closed" | "intel_health">,
  nowMs: number,
): Step {
  const news = takeOne(state.news, nowMs);
  if (!news) {
    return breakProtocol(state, `the session said ${message.type} more than ${FLOW_PER_SECOND} times a second`, nowMs);
  }
  return hearOneNews({ ...state, news }, message, nowMs);
}

function hearOneNews(state: ChildState, message: Parameters<typeof hearNews>[1], nowMs: number): Step {
  switch (message.type) {
    case "turn":
      return hearTurn(state, message, nowMs);
    case "gate":
      return hearGate(state, message, nowMs);
    case "gate_closed":
      return hearGateClosed(state, message, nowMs);
    case "intel_health":
      return { state, effects: [{ kind: "notice", notice: { kind: "intel_health", ...message } }] };
  }
}

/** The one thing that may be said before `ready`: that the control reader runs. */
function isUp(message: AgentMsg): boolean {
  return message.type === "event" && message.event === "child.up";
}

function hearReady(state: ChildState, nowMs: number): Step {
  if (state.readyMs !== undefined) return breakProtocol(state, "the session said ready twice", nowMs);
  const ready: ChildState = {
    ...state,
    readyMs: nowMs,
    pongMs: nowMs,
    pingedMs: nowMs,
    ...(state.rules.hasDoor ? { turnOpen: false } : { deadlineMs: backstopMs(state, nowMs) }),
  };
  const phase = state.phase === "starting" ? state.pauseWanted ? "paused" : "running" : state.phase;
  return { state: { ...ready, phase }, effects: [{ kind: "notice", notice: { kind: "ready" } }] };
}

function hearPong(state: ChildState, seq: number, nowMs: number): Step {
  return still(seq >= 1 && seq <= state.pingSeq ? { ...state, pongMs: nowMs } : state);
}

/** A delta; counted until the end, whatever else the child has done. */
function spend(state: ChildState, usage: Frame<"usage">, nowMs: number): Step {
  const early = state.readyMs === undefined && !state.broken;
  const tokens = saturate(usage.input_tokens + usage.output_tokens);
  const counted: ChildState = {
    ...state,
    progressMs: nowMs,
    tokensIn: saturate(state.tokensIn + usage.input_tokens),
    tokensOut: saturate(state.tokensOut + usage.output_tokens),
  };
  const effects: ChildEffect[] = [{ kind: "spent", tokens }];
  if (!early) return { state: counted, effects };
  const broken = breakProtocol(counted, "the session said usage before it was ready", nowMs);
  return { state: broken.state, effects: [...effects, ...broken.effects] };
}

function hearLastWord(state: ChildState, message: TerminalMsg, nowMs: number): Step {
  if (state.terminal) {
    return breakProtocol(state, `the session said ${message.type} after its ${state.terminal.type}`, nowMs);
  }
  if (message.type !== "failed" && (message.type === "turn_done") !== (state.rules.role === "turn")) {
    return breakProtocol(state, `the session said ${message.type}, and its role is ${state.rules.role}`, nowMs);
  }
  if (message.type !== "result") {
    return leaveAfterLastWord({ ...state, terminal: message, progressMs: nowMs }, nowMs);
  }
  const { outcome, effects } = receiveOutcome(message.outcome);
  const heard: ChildState = { ...state, terminal: { ...message, outcome }, progressMs: nowMs };
  return then({ state: heard, effects }, (state) => leaveAfterLastWord(state, nowMs));
}

function hearTurn(state: ChildState, message: Frame<"turn">, nowMs: number): Step {
  if (!state.rules.warm) return breakProtocol(state, "the session said turn, and it is not warm", nowMs);
  const { outcome, effects } = receiveOutcome(message.outcome);
  const more = state.turnsQueued > 0;
  const deadlineMs = more ? backstopMs(state, nowMs) : undefined;
  return {
    state: { ...state, lastTurn: outcome, turnOpen: more, turnsQueued: Math.max(0, state.turnsQueued - 1), deadlineMs },
    effects: [...effects, { kind: "notice", notice: { kind: "turn", outcome } }],
  };
}

/** The backstop of a turn runs from where it begins. */
function openTurn(state: ChildState, nowMs: number): ChildState {
  return { ...state, turnOpen: true, deadlineMs: backstopMs(state, nowMs) };
}

function backstopMs({ rules }: ChildState, nowMs: number): number {
  return nowMs + rules.deadlineMs + rules.timings.deadlineSlackMs;
}

/** An event that repeats the last one unchanged is no progress: a loop that spins says so a thousand times a second. */
function hearEvent(state: ChildState, { event, fields }: Frame<"event">, nowMs: number): Step {
  const lastEvent = JSON.stringify([event, fields]);
  const progressed: ChildState = lastEvent === state.lastEvent ? state : { ...state, lastEvent, progressMs: nowMs };
  const moved = event === TURN_START && state.rules.hasDoor ? openTurn(progressed, nowMs) : progressed;
  const events = takeOne(state.events, nowMs);
  if (events) {
    return { state: { ...moved, events }, effects: [{ kind: "notice", notice: { kind: "event", event, fields } }] };
  }
  const lost = state.dropped.events + 1;
  const line = `a session floods its events: those beyond ${FLOW_PER_SECOND} a second are counted only`;
  return {
    state: { ...moved, dropped: { ...state.dropped, events: lost } },
    effects: lost === 1 ? [{ kind: "log", line }] : [],
  };
}

/** A child that is ending opens nothing any more. */
function hearGate(state: ChildState, { node, payload }: Frame<"gate">, nowMs: number): Step {
  const gate = openGate(state.gate, node, payload);
  if (gate === "second_gate") return breakProtocol(state, "the session opened a gate while one was open", nowMs);
  if (state.phase === "ending") return still(state);
  return { state: { ...state, gate }, effects: [{ kind: "notice", notice: { kind: "gate", node, payload } }] };
}

function hearGateClosed(state: ChildState, { node, via }: Frame<"gate_closed">, nowMs: number): Step {
  const closed = closeGate(state.gate, node, via);
  if (closed === "no_such_gate") {
    if (state.phase === "ending") return still(state);
    return breakProtocol(state, "the session closed a gate that was not open", nowMs);
  }
  const effects: ChildEffect[] = [{ kind: "notice", notice: { kind: "gate_closed", node, via } }];
  if (closed.undelivered) effects.push({ kind: "notice", notice: { kind: "reply_undelivered", node, via } });
  return { state: { ...state, gate: undefined }, effects };
}

/** Whatever is asked is answered: what cannot be done now or ever, at once. */
function hearRequest(state: ChildState, message: Frame<"tool_request" | "budget_request">, nowMs: number): Step {
  const { id } = message;
  if (state.pending.has(id)) return breakProtocol(state, `the session asked twice under the id ${id}`, nowMs);
  const refusal = refuseRequest(state, message);
  if (refusal !== undefined) return { state, effects: [refuse(message, refusal)] };
  const kind = message.type === "tool_request" ? "tool" : "budget";
  const effect: ChildEffect = message.type === "tool_request"
    ? { kind: "tool", ...requestOf(message) }
    : { kind: "budget", id, estimate: message.estimate, ownLeft: state.rules.maxTokens - spentOf(state) };
  return { state: { ...state, pending: new Map(state.pending).set(id, kind) }, effects: [effect] };
}

function requestOf({ id, name, args, idempotency_key }: Frame<"tool_request">): { readonly id: number } & ToolRequest {
  return { id, name, args, ...(idempotency_key === undefined ? {} : { idempotency_key }) };
}

function refuseRequest(state: ChildState, message: Frame<"tool_request" | "budget_request">): string | undefined {
  if (state.phase === "ending") return "the session is ending";
  if (state.pending.size >= MAX_PENDING) return `${MAX_PENDING} requests are waiting for their answers already`;
  const { allowedTools } = state.rules;
  if (message.type === "budget_request" || allowedTools === undefined) return undefined;
  return matchesTool(allowedTools, message.name) ? undefined : "this tool is not granted to the session";
}

function refuse({ type, id }: Frame<"tool_request" | "budget_request">, reason: string): ChildEffect {
  return {
    kind: "send",
    message: type === "tool_request"
      ? { type: "tool_result", id, result: reason, is_error: true }
      : { type: "budget_grant", id, ok: false, wait_ms: 0, reason },
  };
}

function dropFrame(state: ChildState): Step {
  return still({ ...state, dropped: { ...state.dropped, frames: state.dropped.frames + 1 } });
}

function countUnknown(state: ChildState, tag: string): Step {
  const unknown = { ...state, dropped: { ...state.dropped, unknown: state.dropped.unknown + 1 } };
  if (state.unknownTags.includes(tag) || state.unknownTags.length >= MAX_UNKNOWN_TAGS) return still(unknown);
  return {
    state: { ...unknown, unknownTags: [...state.unknownTags, tag] },
    effects: [{ kind: "log", line: `ignored a frame of the unknown type ${tag}` }],
  };
}

function spentOf({ tokensIn, tokensOut }: ChildState): number {
  return saturate(tokensIn + tokensOut);
}

function saturate(tokens: number): number {
  return Math.min(tokens, Number.MAX_SAFE_INTEGER);
}
