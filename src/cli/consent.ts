import { CapsuleError, printableLine } from "../base/mod.ts";
import { describeGrants } from "./describe_grants.ts";
import type { Resolved } from "./resolve_run.ts";
import type { Context } from "./verb.ts";

/** Options of {@link obtainConsent}. */
export interface ConsentRequest {
  readonly resolved: Resolved;
  readonly digest: string;
  /** `--accept` was given. */
  readonly accept: boolean;
  /** Store the consent (not for a dry run). */
  readonly remember: boolean;
}

/**
 * A foreign capsule runs only with the operator's word for exactly this digest: stored, `--accept`, or a yes on a
 * terminal. An own one needs none, and a bare component has no manifest to consent to. Where a ceiling takes some of what
 * the manifest asks for, the word holds for that run alone.
 *
 * @throws `consent.required` without a terminal; `consent.refused` on a no
 */
export function obtainConsent({ resolved, digest, accept, remember }: ConsentRequest, context: Context): void {
  const { capsule, own, trust } = resolved;
  if (capsule.kind === "bare" || own || trust.isAccepted(digest)) return;
  // Kept under the digest alone, it would hold where no ceiling takes what was not shown here.
  const keeps = remember && resolved.grants.isNarrowed !== true;
  if (!accept) askOnTerminal(resolved, keeps, context);
  if (keeps) trust.accept(digest);
}

function askOnTerminal({ capsule, grants }: Resolved, keeps: boolean, context: Context): void {
  const name = printableLine(capsule.name);
  if (context.readAnswer === undefined) {
    throw new CapsuleError(
      "consent.required",
      `Run ${name}: a foreign capsule that was not accepted yet; look at it with \`boll explain\`, then add --accept`,
    );
  }
  context.stderr.write(`${name} is not one of your own capsules. It asks for:\n${describeGrants(grants.grants)}`);
  context.stderr.write(`Run it with exactly these${keeps ? ", and remember that" : ", this once"}? [y/N] `);
  if (!isYes(context.readAnswer())) throw new CapsuleError("consent.refused", `Run ${name}: not accepted`);
}

/** Whether an answer is a yes; anything else is a no. */
export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer);
}
