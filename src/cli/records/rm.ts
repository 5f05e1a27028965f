import { CapsuleError } from "../../base/mod.ts";
import { findSession, type Home, isRunning, openHome, removeSession } from "../../records/mod.ts";
import type { Verb } from "../verb.ts";

/** `boll rm SESSION...`: ended sessions, with records and work folder. All or none are found; a running one is refused. */
export const verb: Verb = {
  name: "rm",
  summary: "Remove ended sessions",
  usage: "rm SESSION...",
  operands: { min: 1, max: Infinity, names: ["SESSION"] },
  options: [],
  notes: [
    "SESSION is an id, a prefix of one that is unique (4 characters or more), or",
    "last. Its records and its own work folder go; a folder named with --work stays.",
    "When one of them is unknown or running, none is removed.",
  ],
  run(args, context) {
    const home = openHome(context.readVariable);
    for (const id of findAll(home, args.operands)) {
      const removal = removeSession(home, id);
      if (removal === "running") throw running(id);
      // Another process may have been first: it is gone, which was the wish.
      if (removal === "removed") context.stdout.write(`removed ${id}\n`);
    }
    return Promise.resolve(0);
  },
};

/** Ids of all that were named, each once. */
function findAll(home: Home, wanted: readonly string[]): string[] {
  const faults: CapsuleError[] = [];
  const ids = new Set<string>();
  for (const name of wanted) {
    try {
      const { id } = findSession(home, name);
      if (isRunning(home, id)) faults.push(running(id));
      ids.add(id);
    } catch (error) {
      if (!(error instanceof CapsuleError)) throw error;
      faults.push(error);
    }
  }
  if (faults.length === 0) return [...ids];
  if (faults.length === 1) throw faults[0]!;
  const problems = faults.map(({ message }) => message);
  throw new CapsuleError(faults[0]!.code, `Remove sessions: found ${problems.length} problems, removed none`, {
    problems,
  });
}

function running(id: string): CapsuleError {
  return new CapsuleError("records.running", `Remove session: ${id} is running; end it first, then remove it`);
}
