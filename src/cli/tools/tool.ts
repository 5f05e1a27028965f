import { CapsuleError, printableLine } from "../../base/mod.ts";
import { type AgentCapsule, digestCapsule } from "../../manifest/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { obtainConsent } from "../consent/consent.ts";
import { findRunLock } from "../consent/consent_scope.ts";
import { GRANT_OPTIONS } from "../options/grant_flags.ts";
import { useTools } from "./use_tools.ts";
import { warnOf } from "../run/report_ending.ts";
import { resolveAgent } from "../agent/resolve_agent.ts";
import { isAgentRun, resolveRun } from "../run/resolve_run.ts";
import { recordSession } from "../run/session_record.ts";
import type { Context, Verb } from "../verb.ts";

/** The longest input that is read from stdin, bytes: what a tool takes. */
const MAX_INPUT_BYTES = 4 * 1024 * 1024;

/** `boll tool CAPSULE NAME JSON`: one tool of an agent, called by hand and without a model. */
export const verb: Verb = {
  name: "tool",
  summary: "Call a tool of an agent by hand",
  usage: "tool CAPSULE [NAME [JSON|-]] [options]",
  operands: { min: 1, max: 3, names: ["CAPSULE", "NAME", "JSON"] },
  options: [
    ...GRANT_OPTIONS,
    { name: "accept", summary: "Accept a foreign capsule's grants, and remember it" },
    { name: "json", summary: "Tools as JSON; end with one JSON object on stderr" },
    { name: "quiet", summary: "No notes of boll's own, only errors" },
  ],
  notes: [
    "Without NAME: its tools and their input. JSON is `{}` when absent, and read from",
    "stdin for `-`. No model is asked. `boll logs` has what the tool wrote beside.",
    "",
    "  boll tool capsules/reviewer --mount ./capsules/wasi:/src read-file \\",
    `    '{"path": "/src/text.js"}'`,
  ],
  run: toolVerb,
};

async function toolVerb(args: Arguments, context: Context): Promise<number> {
  const [path, name, json] = args.operands;
  const found = await resolveRun(path!, args, context);
  if (!isAgentRun(found)) throw noAgent(found.capsule.name);
  const resolved = resolveAgent(found, args);
  const { capsule } = resolved;
  if (name !== undefined) findTool(capsule, name);
  const input = name === undefined ? undefined : await readInput(json, context);
  const digests = digestCapsule(capsule);
  if (!args.has("quiet")) warnOf(resolved, context);
  const lock = await findRunLock(resolved);
  const { model, peers } = resolved;
  await obtainConsent(
    { resolved, digest: digests.capsule, model, peers, lock, accept: args.has("accept"), remember: true },
    context,
  );
  const never = new AbortController().signal;
  const interrupts = context.watchInterrupts?.() ?? { first: never, second: never };
  const agreed = { resolved, digests, args, context, guestArgs: [], lock };
  const wanted = name === undefined || input === undefined ? undefined : { name, input };
  return await recordSession(agreed, interrupts.first, (record) => useTools(record, wanted, interrupts));
}

function findTool({ name: capsule, tools }: AgentCapsule, wanted: string): void {
  if (tools.some(({ name }) => name === wanted)) return;
  const names = tools.map(({ name }) => name).join(", ");
  throw new CapsuleError(
    "tool.unknown",
    `Call tool ${printableLine(JSON.stringify(wanted), 80)}: ${printableLine(capsule, 80)} has ${
      names === "" ? "no tools" : `only ${names}`
    }`,
  );
}

function noAgent(capsule: string): CapsuleError {
  return new CapsuleError(
    "tool.unknown",
    `Call a tool of ${printableLine(capsule, 80)}: it is no agent, and has no tools; use boll run`,
  );
}

/** @throws `usage.bad_value` for what is not JSON */
async function readInput(json: string | undefined, context: Context): Promise<string> {
  const text = json === "-" ? await readStdin(context) : json ?? "{}";
  try {
    JSON.parse(text);
    return text;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CapsuleError("usage.bad_value", `Read JSON: ${printableLine(why, 200)}; wanted the tool's input`);
  }
}

async function readStdin({ readInput }: Context): Promise<string> {
  const bytes = await readInput?.(MAX_INPUT_BYTES);
  if (bytes === undefined) {
    throw new CapsuleError("usage.bad_value", `Read stdin: found more than ${MAX_INPUT_BYTES} bytes of input`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new CapsuleError("usage.bad_value", "Read stdin: it is not UTF-8");
  }
}
