import { CapsuleError, isId } from "../../base/mod.ts";
import { badField, Fields } from "../fields.ts";

/** Where a session of a running tree stands. */
export const NODE_STATES = ["starting", "running", "paused", "ending", "ended"] as const;

/** One session of a running tree. Paths are dotted: `0`, `0.1`, `0.1.1`. */
export interface TreeNode {
  readonly path: string;
  readonly session_id: string;
  readonly capsule: string;
  readonly state: typeof NODE_STATES[number];
  /** What its supervisor thinks of it: `healthy`, `busy`, `stuck`, …; at its end how that was. */
  readonly verdict: string;
  readonly pid: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  /** Milliseconds since the epoch. */
  readonly started_ms: number;
  /** When it last made progress, milliseconds since the epoch. */
  readonly progress_ms: number;
}

/** What can be asked of one session and of all below it. */
export const TREE_ACTIONS = ["stop", "pause", "resume"] as const;

/** One of {@link TREE_ACTIONS}. */
export type TreeAction = typeof TREE_ACTIONS[number];

/** What a tool asks a running tree: one frame, the first of a connection. `follow` is answered until either side goes. */
export type TreeRequest =
  | { readonly type: "list" }
  | { readonly type: "follow" }
  | { readonly type: TreeAction; readonly path: string };

/** What the tree answers. */
export type TreeReply =
  | { readonly type: "tree"; readonly nodes: readonly TreeNode[] }
  | { readonly type: "done" }
  | { readonly type: "refused"; readonly message: string };

/** Most sessions of one tree that are told of. */
export const MAX_TREE_NODES = 4_096;

const SHORT = { max: 128 };
const PATH = { max: 512 };

/** @throws `protocol.bad_field` naming the field; `protocol.unexpected` for an unknown `type` */
export function decodeTreeRequest(message: Record<string, unknown>): TreeRequest {
  const fields = new Fields(message, "message");
  const type = fields.string("type", SHORT);
  if (type === "list" || type === "follow") return { type };
  const action = TREE_ACTIONS.find((word) => word === type);
  if (action !== undefined) return { type: action, path: fields.string("path", PATH) };
  throw new CapsuleError("protocol.unexpected", "Read a message: message.type is none that a tree knows");
}

/** @throws `protocol.bad_field` naming the field; `protocol.unexpected` for an unknown `type` */
export function decodeTreeReply(message: Record<string, unknown>): TreeReply {
  const fields = new Fields(message, "message");
  const type = fields.string("type", SHORT);
  switch (type) {
    case "tree":
      return { type, nodes: fields.list("nodes", decodeNode, { max: MAX_TREE_NODES }) };
    case "done":
      return { type };
    case "refused":
      return { type, message: fields.string("message", { max: 4_096 }) };
    default:
      throw new CapsuleError("protocol.unexpected", "Read a message: message.type is none that a tree answers with");
  }
}

function decodeNode(item: unknown, path: string): TreeNode {
  const fields = new Fields(item, path);
  return {
    path: fields.string("path", PATH),
    session_id: decodeSessionId(fields),
    capsule: fields.string("capsule", SHORT),
    state: fields.oneOf("state", NODE_STATES),
    verdict: fields.string("verdict", SHORT),
    pid: fields.integer("pid"),
    tokens_in: fields.integer("tokens_in"),
    tokens_out: fields.integer("tokens_out"),
    started_ms: fields.integer("started_ms"),
    progress_ms: fields.integer("progress_ms"),
  };
}

/** Empty before there is one. It is shown, and names a folder of the home: whoever answers may not choose which. */
function decodeSessionId(fields: Fields): string {
  const id = fields.string("session_id", SHORT);
  if (id !== "" && !isId(id, "ses")) throw badField(fields.pathOf("session_id"), "the id of a session");
  return id;
}
