import { CapsuleError, closest, printableLine } from "../../base/mod.ts";
import { overviewHelp, verbHelp } from "./help_text.ts";
import type { Verb } from "../verb.ts";
import { VERBS } from "../verbs.ts";

/** `boll help [VERB]`. */
export const verb: Verb = {
  name: "help",
  summary: "Show help for a verb",
  usage: "help [VERB]",
  operands: { min: 0, max: 1, names: ["VERB"] },
  options: [],
  async run(args, context) {
    const [name] = args.operands;
    if (name === undefined) context.stdout.write(overviewHelp());
    else context.stdout.write(verbHelp((await findVerb(name).load()).verb));
    return 0;
  },
};

/**
 * The verb of a name.
 * @throws `usage.unknown_verb` with a suggestion
 */
export function findVerb(name: string): (typeof VERBS)[number] {
  const found = VERBS.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  const names = VERBS.map((entry) => entry.name);
  const near = closest(name, names);
  const hint = near === undefined ? `wanted one of ${names.join(", ")}` : `did you mean ${near}?`;
  throw new CapsuleError("usage.unknown_verb", `Read verb: found "${printableLine(name, 40)}", ${hint}`);
}
