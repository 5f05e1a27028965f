import { printableJson, printableLine } from "../../base/mod.ts";
import { achievedContainment, checkFloor } from "../../grants/mod.ts";
import { probeHull } from "../../hull/mod.ts";
import { type CommandCapsule, type CommandDigests, digestCapsule, isAgent } from "../../manifest/mod.ts";
import { isCompiled } from "../../session/mod.ts";
import { refuseTaskFile, refuseTwoTasks, TASK_FILE } from "../agent/agent_task.ts";
import type { Arguments } from "../options/arguments.ts";
import { obtainConsent } from "../consent/consent.ts";
import { findRunLock } from "../consent/consent_scope.ts";
import { resolveAsking } from "../consent/ask_for_grants.ts";
import { ASK_OPTION, GRANT_OPTIONS } from "../options/grant_flags.ts";
import { guestArguments, launch } from "./launch.ts";
import { MODEL_NOTE, NOTED_MODEL_OPTIONS, readModelFlags } from "../options/model_flags.ts";
import { prepareComponent } from "./prepare_component.ts";
import { warnOf } from "./report_ending.ts";
import { asCommand, isAgentRun, type Resolved } from "./resolve_run.ts";
import { recordSession } from "./session_record.ts";
import type { Context, Verb } from "../verb.ts";

/** `boll run CAPSULE [options] [--] ARGS`: a capsule in the foreground, behind its walls. */
export const verb: Verb = {
  name: "run",
  summary: "Run a capsule behind its walls",
  usage: "run CAPSULE [options] [--] [ARGS]",
  operands: { min: 1, max: 1, rest: true, names: ["CAPSULE"] },
  options: [
    ...GRANT_OPTIONS,
    ...NOTED_MODEL_OPTIONS,
    { ...TASK_FILE, isNoted: true },
    ASK_OPTION,
    { name: "accept", summary: "Accept a foreign capsule's grants, and remember it" },
    { name: "dry-run", summary: "Check and build everything, run nothing" },
    { name: "json", summary: "End with one JSON object on stderr" },
    { name: "quiet", summary: "No notes of boll's own, only errors" },
  ],
  notes: [
    "CAPSULE is a folder, a capsule.jsonc, or a bare .wasm. Of an agent ARGS is its",
    "task, one argument or - for stdin, after all flags; or --task-file FILE.",
    MODEL_NOTE,
  ],
  run: runVerb,
};

async function runVerb(args: Arguments, context: Context): Promise<number> {
  const found = await resolveAsking(args.operands[0]!, args, context, {
    check: (capsule) => isAgent(capsule) && refuseTwoTasks(args),
  });
  // The code of agents is loaded only for them.
  if (isAgentRun(found)) return await (await import("../agent/run_agent.ts")).runAgentVerb(found, args, context);
  const resolved = asCommand(found);
  readModelFlags(args, resolved.capsule);
  refuseTaskFile(args, resolved.capsule.name);
  const digests = digestCapsule(resolved.capsule);
  if (!args.has("quiet")) warnOf(resolved, context);
  const isDryRun = args.has("dry-run");
  const lock = await findRunLock(resolved);
  const [accept, remember] = [args.has("accept"), !isDryRun];
  await obtainConsent({ resolved, digest: digests.capsule, lock, accept, remember }, context);
  if (isDryRun) return await dryRun(resolved, digests, args, context);
  const never = new AbortController().signal;
  const interrupts = context.watchInterrupts?.() ?? { first: never, second: never };
  const agreed = { resolved, digests, args, context, guestArgs: guestArguments(resolved, args), lock };
  return await recordSession(agreed, interrupts.first, (record) => launch(record, interrupts));
}

/** Everything that a run would refuse is refused here too; then there is nothing more to say. */
async function dryRun(
  resolved: Resolved<CommandCapsule>,
  digests: CommandDigests,
  args: Arguments,
  context: Context,
): Promise<number> {
  const probe = probeHull();
  const { grants } = resolved.grants;
  const containment = achievedContainment(probe, { compiled: isCompiled, net: grants.net });
  checkFloor(grants, containment);
  await prepareComponent(resolved, digests.component, probe.landlockAbi > 0 && probe.seccomp, context);
  if (args.has("json")) {
    const report = { status: "completed", exit_code: 0, dry_run: true, containment: containment.achieved };
    context.stderr.write(printableJson(report) + "\n");
    return 0;
  }
  const name = printableLine(resolved.capsule.name);
  context.stdout.write(`${name} would run: every import is granted, containment ${containment.achieved}\n`);
  return 0;
}
