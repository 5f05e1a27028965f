import { printableJson, printableLine } from "../../base/mod.ts";
import type { AgentCapsule } from "../../manifest/mod.ts";
import { interrupted } from "../../session/mod.ts";
import { runAgent } from "./agent_run.ts";
import { readTask } from "./agent_task.ts";
import { agreeToStart } from "../consent/agree_to_start.ts";
import type { Arguments } from "../options/arguments.ts";
import { buildTools, checkTools } from "../tools/build_tools.ts";
import { resolveAgent } from "./resolve_agent.ts";
import type { Resolved } from "../run/resolve_run.ts";
import type { Starting } from "../tree/root_capsule.ts";
import type { Context } from "../verb.ts";

/** `boll run AGENT TASK`. Gives the exit status. */
export async function runAgentVerb(
  found: Resolved<AgentCapsule>,
  args: Arguments,
  context: Context,
): Promise<number> {
  const resolved = resolveAgent(found, args);
  const isDryRun = args.has("dry-run");
  const task = isDryRun ? "" : await readTask(args, args.operands[0]!, context);
  const starting = await agreeToStart(resolved, { args, context, remember: !isDryRun });
  if (isDryRun) return await dryRun(starting, resolved.capsule);
  try {
    return await runAgent(starting, task);
  } catch (error) {
    // While its tools were built: there was no session yet.
    if (!starting.interrupts.first.aborted) throw error;
    const { status, exit_code, ended_by } = interrupted();
    context.stderr.write(
      args.has("json") ? `${printableJson({ session_id: "", status, exit_code, ended_by })}\n` : "boll: interrupted\n",
    );
    return exit_code;
  }
}

/** Everything that a run would refuse is refused here too; then there is nothing more to say. */
async function dryRun({ resolved, digests, args, context, kernel, containment }: Starting, capsule: AgentCapsule) {
  if (digests.component !== undefined) throw new TypeError("An agent with a component");
  const { home, grants: { grants } } = resolved;
  const hull = kernel.landlock && kernel.seccomp;
  using built = await buildTools({ capsule, digests, limits: grants.limits, cacheRoot: home.cache, hull });
  checkTools(capsule, built.tools, grants);
  const { achieved } = containment;
  context.stdout.write(
    args.has("json")
      ? ""
      : `${printableLine(capsule.name)} would run: every import is granted, containment ${achieved}\n`,
  );
  if (args.has("json")) {
    const report = { status: "completed", exit_code: 0, dry_run: true, containment: achieved };
    context.stderr.write(`${printableJson(report)}\n`);
  }
  return 0;
}
