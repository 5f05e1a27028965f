import { printableJson, printableLine } from "../../base/mod.ts";
import type { TreeNode } from "../../protocol/tree/mod.ts";
import { openHome, type OpenSession } from "../../records/mod.ts";
import { alignColumns } from "../text/columns.ts";
import { type Paint, paintFor } from "../text/paint.ts";
import { timeSpan } from "../text/quantities.ts";
import { findRunning } from "./running_trees.ts";
import type { Verb } from "../verb.ts";

/** `boll ps`: every tree that runs now, its sessions indented below their parents. */
export const verb: Verb = {
  name: "ps",
  summary: "List what runs now",
  usage: "ps [options]",
  operands: { min: 0, max: 0, names: [] },
  options: [{ name: "json", summary: "Print one JSON object a line" }],
  notes: [
    "PATH is where a session stands in its tree: 0 is the root, 0.1 below it.",
    "TOKENS are those of its model so far, in and out. AGE is since it started.",
  ],
  async run(args, context) {
    const { trees, silent } = await findRunning(openHome(context.readVariable));
    const nodes = trees.flatMap((tree) => tree.nodes);
    if (args.has("json")) {
      const lines = [...nodes, ...silent.map(silentNode)].map((node) => printableJson(node) + "\n");
      context.stdout.write(lines.join(""));
      return 0;
    }
    context.stdout.write(table([...nodes, ...silent.map(silentNode)], paintFor(context.stdout, context)));
    return 0;
  },
};

type Shown = Pick<TreeNode, "path" | "session_id" | "capsule" | "verdict" | "started_ms"> & {
  readonly state: string;
  readonly pid?: number;
  readonly tokens_in?: number;
  readonly tokens_out?: number;
};

/** One whose tree does not answer: its records say that it runs, and no more. */
function silentNode({ session_id, capsule, started_ms }: OpenSession): Shown {
  return { path: "?", session_id, capsule, state: "running", verdict: "no answer", started_ms };
}

function table(nodes: readonly Shown[], paint: Paint): string {
  if (nodes.length === 0) return "Nothing runs.\n";
  const head = ["SESSION", "PATH", "CAPSULE", "STATE", "VERDICT", "TOKENS", "AGE", "PID"];
  const [first, ...rest] = alignColumns([head, ...nodes.map(cells)]).map((row) => row.join("  ").trimEnd() + "\n");
  return paint.dim(first!) + rest.join("");
}

function cells({ path, session_id, capsule, state, verdict, tokens_in, tokens_out, started_ms, pid }: Shown): string[] {
  const depth = path.split(".").length - 1;
  return [
    printableLine(session_id, 40),
    printableLine(path, 40),
    "  ".repeat(Math.min(depth, 8)) + (printableLine(capsule, 40) || "?"),
    printableLine(state, 20),
    printableLine(verdict, 30),
    tokens_in ? `${tokens_in}/${tokens_out}` : "-",
    timeSpan(Math.max(0, Date.now() - started_ms)),
    pid === undefined ? "?" : String(pid),
  ];
}
