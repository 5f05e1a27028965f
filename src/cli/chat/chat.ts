import { CapsuleError, printableJson, printableLine } from "../../base/mod.ts";
import { isAgent } from "../../manifest/mod.ts";
import { interrupted } from "../../session/mod.ts";
import { agentExitCode } from "../agent/agent_ending.ts";
import { agreeToStart } from "../consent/agree_to_start.ts";
import type { Arguments } from "../options/arguments.ts";
import { resolveAsking } from "../consent/ask_for_grants.ts";
import { JsonScreen, PlainScreen, TerminalScreen } from "./chat_screen.ts";
import { ChatInterrupts } from "./chat_interrupts.ts";
import { type ChatEnding, ChatSession } from "./chat_session.ts";
import { ASK_OPTION, GRANT_OPTIONS } from "../options/grant_flags.ts";
import { MODEL_OPTIONS } from "../options/model_flags.ts";
import { resolveAgent } from "../agent/resolve_agent.ts";
import { isAgentRun } from "../run/resolve_run.ts";
import type { Starting } from "../tree/root_capsule.ts";
import type { Context, Verb } from "../verb.ts";

/** `boll chat AGENT`: a conversation, a turn for each line. */
export const verb: Verb = {
  name: "chat",
  summary: "Talk to an agent",
  usage: "chat AGENT [options]",
  operands: { min: 1, max: 1, names: ["AGENT"] },
  options: [
    ...MODEL_OPTIONS,
    ...GRANT_OPTIONS.map((option) => option.name === "containment" ? { ...option, isNoted: true as const } : option),
    { ...ASK_OPTION, isNoted: true },
    { name: "accept", summary: "Accept a foreign capsule's grants, and remember it" },
    { name: "json", summary: "Print each event as one JSON object a line" },
    { name: "quiet", summary: "No notes of boll's own, only errors" },
  ],
  notes: [
    "A line of stdin is a message, or the answer to what it asks. Ctrl-C ends a turn,",
    "twice the conversation, and so does Ctrl-D. --ask and --containment: as in run.",
  ],
  run: runVerb,
};

/** Its input ended while it waited for an answer (README, "Exit codes"). */
const EXIT_ASKS_BACK = 3;

async function runVerb(args: Arguments, context: Context): Promise<number> {
  const found = await resolveAsking(args.operands[0]!, args, context, {
    check: (capsule) => {
      if (!isAgent(capsule)) throw refuseCommand(capsule.name);
    },
  });
  if (!isAgentRun(found)) throw refuseCommand(found.capsule.name);
  const interrupts = new ChatInterrupts(context);
  const starting = await agreeToStart(resolveAgent(found, args), {
    args,
    context: { ...context, watchInterrupts: () => interrupts.watch() },
  });
  try {
    const ending = await new ChatSession(starting, screenFor(args, context), interrupts).run();
    return report(ending, starting);
  } catch (error) {
    if (!starting.interrupts.first.aborted) throw error;
    return reportInterrupted(starting);
  }
}

/** While its tools were built: there was no session yet. */
function reportInterrupted({ args, context }: Starting): number {
  const { status, exit_code, ended_by } = interrupted();
  if (args.has("json")) {
    context.stdout.write(`${printableJson({ type: "end", session_id: "", status, exit_code, ended_by })}\n`);
  } else context.stderr.write("boll: interrupted\n");
  return exit_code;
}

function refuseCommand(name: string): CapsuleError {
  return new CapsuleError("usage.bad_value", `Chat with ${printableLine(name, 80)}: it is no agent; use boll run`);
}

function screenFor(args: Arguments, context: Context) {
  if (args.has("json")) return new JsonScreen(context);
  return context.isInteractive && context.stdout.isTerminal ? new TerminalScreen(context) : new PlainScreen(context);
}

function report({ ending, trace, isUnanswered }: ChatEnding, { args, context }: Starting): number {
  if (ending === undefined) return 0;
  const { session_id, status, ended_by, tokens_in, tokens_out, duration_ms } = ending;
  const exit_code = isUnanswered ? EXIT_ASKS_BACK : agentExitCode(ending);
  if (args.has("json")) {
    const usage = { input_tokens: tokens_in, output_tokens: tokens_out };
    const end = { type: "end", session_id, status, exit_code, ended_by, usage, duration_ms, trace };
    context.stdout.write(`${printableJson(end)}\n`);
  } else if (isUnanswered) context.stderr.write("boll: its question was not answered\n");
  else if (exit_code !== 0 && !args.has("quiet")) {
    const why = status === "cancelled"
      ? "interrupted"
      : ending.error?.message ?? ending.detail ?? `its last turn ended as ${status}`;
    context.stderr.write(`boll: ${printableLine(why, 400)}; see \`boll trace show ${session_id}\`\n`);
  }
  return exit_code;
}
