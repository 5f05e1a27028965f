import { CapsuleError, printableLine } from "../../base/mod.ts";
import type { ResolvedModel, StartableExplanation } from "../../grants/mod.ts";
import { isAgent, type Peer } from "../../manifest/mod.ts";
import type { Lock } from "../../package/mod.ts";
import { consentDigest, readStartable, startableLabel } from "./consent_scope.ts";
import { describeAgent, modelLines } from "../explain/describe_agent.ts";
import { describeGrants } from "../explain/describe_grants.ts";
import type { Resolved } from "../run/resolve_run.ts";
import type { Context } from "../verb.ts";

/** Options of {@link obtainConsent}. */
export interface ConsentRequest {
  readonly resolved: Resolved;
  readonly digest: string;
  /** Where an agent's model is. */
  readonly model?: ResolvedModel | undefined;
  /** The agents elsewhere that it may send to. */
  readonly peers?: readonly Peer[];
  /** What it may start, when it may start anything. */
  readonly lock?: Lock | undefined;
  /** `--accept` was given. */
  readonly accept: boolean;
  /** Store the consent (not for a dry run). */
  readonly remember: boolean;
}

/**
 * A foreign capsule runs only with the operator's word for exactly this digest, and for those of all that it may start: stored, `--accept`, or a yes on a
 * terminal. An own one needs none, and a bare component has no manifest to consent to. Where a ceiling or a flag takes some
 * of what the manifest asks for, or stands for its model, the word holds for that run alone.
 *
 * @throws `consent.required` without a terminal; `consent.refused` on a no
 */
export async function obtainConsent(request: ConsentRequest, context: Context): Promise<void> {
  const { resolved, digest, model, lock, accept, remember } = request;
  const { capsule, own, trust, grants: { grants: { spawn } } } = resolved;
  const word = consentDigest(digest, spawn, lock);
  if (capsule.kind === "bare" || own || trust.isAccepted(word)) return;
  // Kept under the digest alone, it would hold where nothing takes what was not shown here.
  const keeps = remember && resolved.grants.isNarrowed !== true && model?.isNarrowed !== true;
  if (!accept) await askOnTerminal(request, keeps, context);
  if (keeps) trust.accept(word);
}

async function askOnTerminal(
  { resolved: { capsule, grants: { grants } }, model, peers = [], lock }: ConsentRequest,
  keeps: boolean,
  context: Context,
): Promise<void> {
  const name = printableLine(capsule.name);
  if (context.readAnswer === undefined) {
    throw new CapsuleError(
      "consent.required",
      `Run ${name}: a foreign capsule that was not accepted yet${
        grants.spawn.length === 0 ? "" : " with what it may start"
      }; look at it with \`boll explain\`, then add --accept`,
    );
  }
  const agent = isAgent(capsule) ? describeAgent(capsule, { model: model?.grant, peers }) : "";
  context.stderr.write(`${name} is not one of your own capsules. It asks for:\n${agent}${describeGrants(grants)}`);
  for (const child of await readStartable(grants.spawn, lock)) {
    context.stderr.write(`Of these it may give ${startableLabel(child)}${child.grants === undefined ? "" : ":"}\n`);
    if (child.grants !== undefined) context.stderr.write(`${childModel(child)}${describeGrants(child.grants)}`);
  }
  context.stderr.write(`Run it with exactly these${keeps ? ", and remember that" : ", this once"}? [y/N] `);
  if (!isYes(context.readAnswer())) throw new CapsuleError("consent.refused", `Run ${name}: not accepted`);
}

function childModel({ model }: StartableExplanation): string {
  return model === undefined ? "" : modelLines(model).map((line) => `  ${line}\n`).join("");
}

/** Whether an answer is a yes; anything else is a no. */
export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer);
}
