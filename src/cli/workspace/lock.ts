import { resolve } from "@std/path";
import { CapsuleError, printableJson, printableLine } from "../../base/mod.ts";
import { findWorkspaces, type Workspace } from "../../manifest/mod.ts";
import { planLock, type PlannedLock, writeLock } from "../../package/mod.ts";
import type { Verb } from "../verb.ts";

/** `boll lock [DIR]`: says in `boll.lock` which capsules a delegation may start, and as what they are now. */
export const verb: Verb = {
  name: "lock",
  summary: "Lock the capsules of a workspace by digest",
  usage: "lock [DIR] [options]",
  operands: { min: 0, max: 1, names: ["DIR"] },
  options: [
    { name: "add", value: "CAPSULE", repeatable: true, summary: "Lock this one too, which no glob names" },
    { name: "check", summary: "Write nothing, fail when it is not current" },
    { name: "json", summary: "Print JSON" },
  ],
  notes: [
    "Writes boll.lock beside the nearest boll.jsonc (from DIR up, default: here): the",
    "name, version, digest and folder of each of your own capsules. A capsule may",
    "delegate only to what stands there, and only as it was: lock again after a",
    "change.",
  ],
  async run(args, context) {
    const workspace = await nearestWorkspace(args.operands[0] ?? ".");
    const planned = await planLock(workspace, { add: args.values("add") });
    const isCheck = args.has("check");
    if (isCheck && !planned.isCurrent) throw refuseCheck(planned);
    if (!planned.isCurrent) writeLock(planned);
    context.stdout.write(args.has("json") ? reportJson(planned, isCheck) : reportText(planned));
    return 0;
  },
};

async function nearestWorkspace(folder: string): Promise<Workspace> {
  const shown = printableLine(folder);
  const path = resolve(folder);
  try {
    Deno.realPathSync(path);
  } catch (error) {
    throw new CapsuleError("usage.bad_value", `Read DIR: found nothing at ${shown}`, { cause: error });
  }
  const [workspace] = await findWorkspaces(path);
  if (workspace !== undefined) return workspace;
  throw new CapsuleError(
    "lock.unresolved",
    `Lock ${shown}: found no boll.jsonc there or above; make one with \`boll init\``,
  );
}

function refuseCheck(planned: PlannedLock): CapsuleError {
  const problems = changeLines(planned);
  const why = problems.length === 0 ? "it is written otherwise" : problems.join(", ");
  return new CapsuleError(
    "lock.not_current",
    `Check ${printableLine(planned.path)}: not current (${printableLine(why)}); run \`boll lock\``,
    { problems },
  );
}

function changeLines({ changes }: PlannedLock): string[] {
  return changes.map(({ kind, name }) => `${kind} ${name}`);
}

function reportText(planned: PlannedLock): string {
  const { path, entries, isCurrent } = planned;
  const count = `${entries.size} ${entries.size === 1 ? "capsule" : "capsules"}`;
  if (isCurrent) return `${printableLine(path)} is current: ${count}\n`;
  const lines = changeLines(planned).map((line) => `  ${line}\n`).join("");
  return `Wrote ${printableLine(path)}: ${count}\n${lines}`;
}

function reportJson({ path, entries, changes, isCurrent }: PlannedLock, isCheck: boolean): string {
  const capsules = Object.fromEntries([...entries].sort(([one], [other]) => one < other ? -1 : 1));
  return `${printableJson({ lock: path, written: !isCurrent && !isCheck, changes, capsules })}\n`;
}
