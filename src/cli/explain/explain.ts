import { errorCodeOf, printableJson } from "../../base/mod.ts";
import { type ComponentDescription, findHandlerName, findRunName, findToolName } from "../../component/mod.ts";
import {
  achievedContainment,
  type ComponentRole,
  explainAgent,
  explainGrants,
  type ExplainGrantsInput,
  type Explanation,
  SESSION_WORK,
  type StartableExplanation,
  toolGrants,
} from "../../grants/mod.ts";
import { probeHull } from "../../hull/mod.ts";
import { digestCapsule } from "../../manifest/mod.ts";
import type { Lock } from "../../package/mod.ts";
import { type BuildRequest, ensureComponent } from "../../session/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { consentDigest, findRunLock, readStartable } from "../consent/consent_scope.ts";
import { explanationText } from "./explanation_text.ts";
import { GRANT_OPTIONS } from "../options/grant_flags.ts";
import { MODEL_NOTE, NOTED_MODEL_OPTIONS, readModelFlags } from "../options/model_flags.ts";
import { paintFor } from "../text/paint.ts";
import { resolveAgent, type ResolvedAgent } from "../agent/resolve_agent.ts";
import { asCommand, isAgentRun, type Resolved, resolveRun } from "../run/resolve_run.ts";
import type { Context, Verb } from "../verb.ts";

/** `boll explain CAPSULE`: what `boll run` with the same flags would grant, wall by wall. Runs nothing of the guest. */
export const verb: Verb = {
  name: "explain",
  summary: "Show what a capsule may do, wall by wall",
  usage: "explain CAPSULE [options]",
  operands: { min: 1, max: 1, names: ["CAPSULE"] },
  options: [...GRANT_OPTIONS, ...NOTED_MODEL_OPTIONS, { name: "json", summary: "Print JSON" }],
  refused: { ask: "nothing runs here, so nothing is asked; what is missing is listed" },
  notes: [
    "Give it the flags that you would give to `boll run`. No guest code runs; the",
    "component is read in a cell of its own to list its imports.",
    MODEL_NOTE,
  ],
  async run(args, context) {
    const resolved = await resolveRun(args.operands[0]!, args, context, { unbound: "list" });
    const explanation = isAgentRun(resolved)
      ? await explainAgentRun(resolveAgent(resolved, args), context)
      : await explainCommandRun(resolved, args, context);
    const text = args.has("json")
      ? printableJson(explanation, 2) + "\n"
      : explanationText(explanation, paintFor(context.stdout, context));
    context.stdout.write(text);
    return 0;
  },
};

async function explainCommandRun(any: Resolved, args: Arguments, context: Context): Promise<Explanation> {
  const resolved = asCommand(any);
  readModelFlags(args, resolved.capsule);
  const { capsule: digest, component } = digestCapsule(resolved.capsule);
  const about = await look(resolved, digest);
  const { imports, exports } = await describe(resolved, {
    componentPath: resolved.capsule.componentPath,
    digest: component,
    memoryMb: resolved.grants.grants.limits.memory_mb,
    hull: about.hull,
  }, context);
  return finish(explainGrants({ ...about.input, imports, role: roleOf(exports) }), about);
}

async function explainAgentRun(resolved: ResolvedAgent, context: Context): Promise<Explanation> {
  const { capsule, model, peers, grants, upstream } = resolved;
  const digests = digestCapsule(capsule);
  const about = await look(resolved, digests.capsule);
  const imports: Record<string, readonly string[]> = {};
  for (const { name, componentPath, grants: declared } of capsule.tools) {
    const { memory_mb: memoryMb } = toolGrants(declared, grants.grants).grants.limits;
    const digest = digests.tools[name]!;
    imports[name] = (await describe(resolved, { componentPath, digest, memoryMb, hull: about.hull }, context)).imports;
  }
  const { probe, compiled } = about.input;
  const agent = explainAgent({
    capsule,
    grants: grants.grants,
    ...(model.grant === undefined ? {} : { model: model.grant }),
    peers,
    digests: digests.tools,
    imports,
    may_start: about.startable,
    probe,
    compiled,
    work: grants.work ?? SESSION_WORK,
    upstream,
  });
  return finish(explainGrants({ ...about.input, agent }), about);
}

/** What a component is by what it exports; a command where it is one too. */
function roleOf(exports: readonly string[]): ComponentRole {
  if (findRunName(exports) !== undefined) return "command";
  if (findHandlerName(exports) !== undefined) return "service";
  return findToolName(exports) === undefined ? "command" : "tool";
}

interface About {
  readonly input: ExplainGrantsInput;
  readonly startable: readonly StartableExplanation[];
  /** Whether wall 4 can be raised in a build cell. */
  readonly hull: boolean;
}

/** What is known of a capsule before any component of it is looked at. */
async function look(resolved: Resolved, digest: string): Promise<About> {
  const { capsule, own, trust, grants, upstream } = resolved;
  const probe = probeHull();
  const compiled = Deno.build.standalone;
  const { spawn } = grants.grants;
  const lock = await lockOf(resolved);
  const accepted = trust.isAccepted(consentDigest(digest, spawn, lock));
  return {
    input: { capsule, digest, resolved: grants, probe, compiled, own, accepted, upstream },
    startable: await readStartable(spawn, lock),
    hull: achievedContainment(probe, { compiled, net: [] }).achieved === "scoped",
  };
}

function finish(explanation: Explanation, { startable }: About): Explanation {
  return startable.length === 0 ? explanation : { ...explanation, may_start: startable };
}

/** Where there is none a run would say so; here it is only what it may start that is not known. */
async function lockOf(resolved: Resolved): Promise<Lock | undefined> {
  try {
    return await findRunLock(resolved);
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return undefined;
  }
}

function describe(
  { home }: Resolved,
  component: Omit<BuildRequest, "cacheRoot">,
  context: Context,
): Promise<ComponentDescription> {
  const request = { cacheRoot: home.cache, ...component };
  if (context.describeComponent !== undefined) return context.describeComponent(request);
  return ensureComponent(request).then(({ description }) => description);
}
