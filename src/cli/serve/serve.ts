import { CapsuleError, printableJson, printableLine } from "../../base/mod.ts";
import type { Capsule } from "../../manifest/mod.ts";
import { interrupted } from "../../session/mod.ts";
import { STATUS_WORDS } from "../agent/agent_ending.ts";
import { agreeToStart } from "../consent/agree_to_start.ts";
import type { Arguments } from "../options/arguments.ts";
import { resolveAsking } from "../consent/ask_for_grants.ts";
import { GRANT_OPTIONS } from "../options/grant_flags.ts";
import { NOTED_MODEL_OPTIONS, readModelFlags } from "../options/model_flags.ts";
import { resolveAgent } from "../agent/resolve_agent.ts";
import { isAgentRun } from "../run/resolve_run.ts";
import { ServedCapsule, type ServedEnding } from "./served_capsule.ts";
import { MAX_QUEUE, readNumber, servingOptions } from "./serving_options.ts";
import type { Context, Verb } from "../verb.ts";

/** `boll serve CAPSULE`: a command or an agent behind an A2A door, each message a task. */
export const verb: Verb = {
  name: "serve",
  summary: "Serve a capsule to other agents (A2A)",
  usage: "serve CAPSULE [options]",
  operands: { min: 1, max: 1, names: ["CAPSULE"] },
  options: [
    { name: "name", value: "NAME", summary: "Keep tasks, token and port under this name" },
    { name: "port", value: "PORT", summary: "Listen on this port (any that is free)" },
    { name: "bind", value: "ADDRESS", summary: "Listen on this address (127.0.0.1)" },
    { name: "host", value: "NAME", repeatable: true, summary: "Answer to this name, too", isNoted: true },
    { name: "open", summary: "Let everybody in, without a token" },
    { name: "queue", value: "N", summary: "Tasks that may wait, the next is rejected (256)" },
    { name: "task-timeout", value: "DURATION", summary: "End a task after 30s, 5m, at most 1h" },
    ...GRANT_OPTIONS.filter(({ name }) => name !== "deadline").map((option) =>
      option.name === "containment" ? { ...option, isNoted: true as const } : option
    ),
    ...NOTED_MODEL_OPTIONS,
    ...servingOptions("Print JSON, with the owner's token"),
  ],
  notes: ["Also --host NAME, --containment CLASS; agents: --uri --model --dialect --api-key"],
  run: runVerb,
};

/** What was typed about the door. */
export interface ServeFlags {
  readonly name?: string;
  readonly port?: number;
  readonly hostname: string;
  readonly names: readonly string[];
  readonly open: boolean;
  /** Absent: as the capsule says. */
  readonly queueDepth?: number;
}

async function runVerb(args: Arguments, context: Context): Promise<number> {
  const flags = readServeFlags(args);
  const found = await resolveAsking(args.operands[0]!, args, context);
  refuseUnserved(found.capsule);
  if (!isAgentRun(found)) readModelFlags(args, found.capsule);
  const starting = await agreeToStart(isAgentRun(found) ? resolveAgent(found, args) : found, {
    args,
    context,
    inputs: ["whoever reaches its door"],
  });
  if (flags.open && !args.has("quiet")) {
    context.stderr.write("boll: warning: the door is open: whoever reaches it may send tasks\n");
  }
  try {
    return report(await ServedCapsule.run({ ...starting, flags }), args, context);
  } catch (error) {
    // While its component was built: there was no session yet.
    if (!starting.interrupts.first.aborted) throw error;
    return report({ session_id: "", ...interrupted() }, args, context);
  }
}

/** A capsule may say that it takes no messages. @throws `door.not_served` */
function refuseUnserved({ name, manifest, manifestPath = "" }: Capsule): void {
  if (manifest?.lifecycle?.accept !== "none") return;
  const { line, column } = manifest.positions.at("lifecycle.accept");
  throw new CapsuleError(
    "door.not_served",
    `${
      printableLine(manifestPath)
    }:${line}:${column}: lifecycle.accept: found none, so that ${name} takes no messages; ` +
      `run it with \`boll run\`, or say single or queue`,
  );
}

function report(ending: ServedEnding, args: Arguments, context: Context): number {
  const { exit_code, status, detail, session_id } = ending;
  if (args.has("json")) context.stderr.write(`${printableJson(ending)}\n`);
  else if (exit_code !== 0 || !args.has("quiet")) {
    const why = detail === undefined ? "" : ` (${printableLine(detail, 400)})`;
    const see = exit_code === 0 || session_id === "" ? "" : `; see \`boll trace show ${session_id}\``;
    context.stderr.write(
      `boll: ${status === "completed" ? "served to its end" : STATUS_WORDS[status] ?? status}${why}${see}\n`,
    );
  }
  return exit_code;
}

/** @throws `usage.bad_value`, `door.open_refused` */
function readServeFlags(args: Arguments): ServeFlags {
  const hostname = readAddress(args.value("bind"));
  const open = args.has("open");
  if (open && !isLoopback(hostname)) {
    throw new CapsuleError(
      "door.open_refused",
      `Read --open: found --bind ${hostname}, which others reach; leave one of them out, and give tokens: boll token add`,
    );
  }
  const [name, port] = [args.value("name"), readNumber(args, "port", 0, 65_535)];
  const queueDepth = readNumber(args, "queue", 1, MAX_QUEUE);
  return {
    hostname,
    open,
    names: args.values("host").map(readHost),
    ...(queueDepth === undefined ? {} : { queueDepth }),
    ...(name === undefined ? {} : { name }),
    ...(port === undefined || port === 0 ? {} : { port }),
  };
}

const IP = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*)$/;

function readAddress(text = "127.0.0.1"): string {
  const address = text.replace(/^\[(.*)\]$/, "$1");
  if (address === "localhost") return "127.0.0.1";
  if (IP.test(address)) return address;
  const found = printableLine(text, 80);
  throw new CapsuleError("usage.bad_value", `Read --bind: found "${found}", wanted an IP address, as in 127.0.0.1`);
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}

function readHost(text: string): string {
  if (/^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$/.test(text)) return text.toLowerCase();
  throw new CapsuleError(
    "usage.bad_value",
    `Read --host: found "${printableLine(text, 80)}", wanted NAME or NAME:PORT`,
  );
}
