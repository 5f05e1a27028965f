import { CapsuleError, printableJson, printableLine } from "../../base/mod.ts";
import type { TreeAction } from "../../protocol/tree/mod.ts";
import { describeSession, type Home, openHome } from "../../records/mod.ts";
import { askTree, followTree } from "../../supervisor/tree_socket/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { findTarget, type Target } from "./running_trees.ts";
import type { Context, Verb } from "../verb.ts";

/** Words of a verb that acts on a running tree. */
export interface TreeVerb {
  readonly action: TreeAction;
  readonly summary: string;
  readonly notes: readonly string[];
}

/** A verb that asks something of a session and of all below it, and waits until it is so. */
export function treeVerb({ action, summary, notes }: TreeVerb): Verb {
  return {
    name: action,
    summary,
    usage: `${action} SESSION|PATH`,
    operands: { min: 1, max: 1, names: ["SESSION|PATH"] },
    options: [{ name: "json", summary: "Print one JSON object" }],
    notes: [
      "SESSION is an id, a prefix of one that is unique (4 characters or more), or",
      "last. PATH (0, 0.1) is one of `boll ps`, when only one tree runs.",
      ...notes,
    ],
    run: (args, context) => actOnTree(action, args, context),
  };
}

async function actOnTree(action: TreeAction, args: Arguments, context: Context): Promise<number> {
  const home = openHome(context.readVariable);
  const target = await findTarget(home, args.operands[0]!);
  const { session_id, path } = target.node;
  // From before it is asked: an ending that comes at once is not missed.
  const reached = untilReached(action, target, context);
  reached.catch(() => {});
  const reply = await askTree(target.socket, { type: action, path });
  if (reply.type === "refused") throw new CapsuleError("tree.refused", printableLine(reply.message, 400));
  const state = await reached;
  const said = state === "ended" ? { state, ...await endingOf(home, session_id) } : { state };
  const line = args.has("json")
    ? printableJson({ session_id, path, ...said })
    : `${state} ${session_id}${"status" in said ? ` (${printableLine(said.status, 20)})` : ""}`;
  context.stdout.write(`${line}\n`);
  return 0;
}

const WANTED = { stop: "ended", pause: "paused", resume: "running" } as const;

/** Where the session stands once it stands as was asked, or has ended. */
async function untilReached(action: TreeAction, { socket, node }: Target, context: Context): Promise<string> {
  const signal = context.watchInterrupt?.() ?? new AbortController().signal;
  for await (const nodes of followTree(socket, signal)) {
    const now = nodes.find(({ session_id }) => session_id === node.session_id)?.state ?? "ended";
    if (now === "ended" || now === WANTED[action]) return now;
  }
  if (signal.aborted) {
    throw new CapsuleError("tree.interrupted", `Wait for ${node.session_id}: interrupted; it was asked to ${action}`);
  }
  return "ended";
}

/** Looks at the records that its supervisor is just writing, and again. */
const [LOOKS, LOOK_PAUSE_MS] = [200, 25];

/** How it ended, once that is on record. */
async function endingOf(home: Home, id: string): Promise<{ readonly status?: string }> {
  for (let look = 0; look < LOOKS; look++) {
    const { status } = describeSession(home, id);
    if (status !== "running") return { status };
    await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE_MS));
  }
  return {};
}
