import { CapsuleError, printableLine } from "../../base/mod.ts";
import type { TreeNode } from "../../protocol/tree/mod.ts";
import { findSession, followTrace, type Home, readControlPointer, type SessionPaths } from "../../records/mod.ts";
import { followTree } from "../../supervisor/tree_socket/mod.ts";
import type { TracePrinter } from "./trace_printer.ts";
import type { TextSink } from "../verb.ts";

/** Options of {@link followDescendants}. */
export interface FollowDescendantsOptions {
  readonly home: Home;
  readonly signal: AbortSignal;
  readonly pause: (ms: number) => Promise<void>;
  printerOf(node: TreeNode, paths: SessionPaths): Pick<TracePrinter, "line">;
}

/**
 * Follows the traces of every session below one that runs, as they appear, until its tree is gone and each of them has
 * ended. Gives at once when it does not run, or when its tree does not answer.
 */
export async function followDescendants(root: SessionPaths, options: FollowDescendantsOptions): Promise<void> {
  const socket = readControlPointer(root);
  if (socket === undefined) return;
  const following = new Map<string, Promise<void>>();
  try {
    for await (const nodes of followTree(socket, options.signal)) {
      for (const node of below(root.id, nodes)) {
        if (!following.has(node.session_id)) following.set(node.session_id, followOne(node, options));
      }
    }
  } catch (error) {
    if (!(error instanceof CapsuleError)) throw error;
  }
  await Promise.all(following.values());
}

function below(id: string, nodes: readonly TreeNode[]): TreeNode[] {
  const top = nodes.find(({ session_id }) => session_id === id);
  return top === undefined ? [] : nodes.filter(({ path }) => path.startsWith(`${top.path}.`));
}

async function followOne(node: TreeNode, options: FollowDescendantsOptions): Promise<void> {
  try {
    const paths = findSession(options.home, node.session_id);
    const printer = options.printerOf(node, paths);
    for await (const line of followTrace(paths, options)) printer.line(line);
  } catch (error) {
    // One that cannot be read hides no other; its own `trace show` says why.
    if (!(error instanceof CapsuleError)) throw error;
  }
}

/** A sink whose every line begins with the session's place in the tree and its capsule. */
export function prefixedSink(sink: TextSink, { path, capsule }: TreeNode): TextSink {
  const prefix = `${printableLine(path, 40)} ${printableLine(capsule, 40)} | `;
  return {
    isTerminal: sink.isTerminal,
    write: (text) => sink.write(text.replace(/^(?=[^])/gm, prefix)),
  };
}
