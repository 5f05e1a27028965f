import { errorCodeOf, printableJson } from "../base/mod.ts";
import { type ComponentDescription, findHandlerName, findRunName } from "../component/mod.ts";
import { achievedContainment, explainGrants } from "../grants/mod.ts";
import { probeHull } from "../hull/mod.ts";
import { type CommandCapsule, digestCapsule } from "../manifest/mod.ts";
import type { Lock } from "../package/mod.ts";
import { ensureComponent } from "../session/mod.ts";
import { consentDigest, findRunLock, readStartable } from "./consent_scope.ts";
import { explanationText } from "./explanation_text.ts";
import { GRANT_OPTIONS } from "./grant_flags.ts";
import { paintFor } from "./paint.ts";
import { asCommand, type Resolved, resolveRun } from "./resolve_run.ts";
import type { Context, Verb } from "./verb.ts";

/** `boll explain CAPSULE`: what `boll run` with the same flags would grant, wall by wall. Runs nothing of the guest. */
export const verb: Verb = {
  name: "explain",
  summary: "Show what a capsule may do, wall by wall",
  usage: "explain CAPSULE [options]",
  operands: { min: 1, max: 1, names: ["CAPSULE"] },
  options: [...GRANT_OPTIONS, { name: "json", summary: "Print JSON" }],
  refused: { ask: "nothing runs here, so nothing is asked; what is missing is listed" },
  notes: [
    "Give it the flags that you would give to `boll run`. No guest code runs; the",
    "component is read in a cell of its own to list its imports.",
  ],
  async run(args, context) {
    const resolved = asCommand(await resolveRun(args.operands[0]!, args, context, { unbound: "list" }));
    const { capsule, own, trust, grants, upstream } = resolved;
    const { capsule: digest, component } = digestCapsule(capsule);
    const probe = probeHull();
    const compiled = Deno.build.standalone;
    const isScoped = achievedContainment(probe, { compiled, net: [] }).achieved === "scoped";
    const { imports, exports } = await describe(resolved, component, isScoped, context);
    const { spawn } = grants.grants;
    const lock = await lockOf(resolved);
    const startable = await readStartable(spawn, lock);
    const accepted = trust.isAccepted(consentDigest(digest, spawn, lock));
    const isService = findHandlerName(exports) !== undefined && findRunName(exports) === undefined;
    const standing = { own, accepted, upstream, role: isService ? "service" as const : "command" as const };
    const explanation = {
      ...explainGrants({ capsule, digest, resolved: grants, probe, compiled, imports, ...standing }),
      ...(startable.length === 0 ? {} : { may_start: startable }),
    };
    const text = args.has("json")
      ? printableJson(explanation, 2) + "\n"
      : explanationText(explanation, paintFor(context.stdout, context));
    context.stdout.write(text);
    return 0;
  },
};

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
  { capsule, home, grants }: Resolved<CommandCapsule>,
  digest: string,
  hull: boolean,
  context: Context,
): Promise<ComponentDescription> {
  const request = {
    cacheRoot: home.cache,
    componentPath: capsule.componentPath,
    digest,
    memoryMb: grants.grants.limits.memory_mb,
    hull,
  };
  if (context.describeComponent !== undefined) return context.describeComponent(request);
  return ensureComponent(request).then(({ description }) => description);
}
