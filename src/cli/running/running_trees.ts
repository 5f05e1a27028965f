import { CapsuleError, printableLine } from "../../base/mod.ts";
import type { TreeNode } from "../../protocol/tree/mod.ts";
import {
  describeSession,
  findSession,
  hasSummary,
  type Home,
  listSessions,
  type OpenSession,
  readControlPointer,
  sessionPaths,
} from "../../records/mod.ts";
import { askTree } from "../../supervisor/tree_socket/mod.ts";

/** A tree that runs, as it answers. */
export interface RunningTree {
  readonly socket: string;
  readonly nodes: readonly TreeNode[];
}

/** What runs in a home. */
export interface Running {
  /** Oldest first. */
  readonly trees: readonly RunningTree[];
  /** Sessions that run and whose tree does not answer. */
  readonly silent: readonly OpenSession[];
}

/** One session of a running tree, or its root. */
export interface Target {
  readonly socket: string;
  readonly node: TreeNode;
}

/** Asks every tree whose sessions run but the `mute` one; those whose supervisor died are marked on the way. */
export async function findRunning(home: Home, mute?: string): Promise<Running> {
  const open = listSessions(home).filter((id) => !hasSummary(sessionPaths(home, id)))
    .map((id) => describeSession(home, id)).filter((session) => session.status === "running");
  const sockets = new Map(open.map((session) => [
    session.session_id,
    readControlPointer(sessionPaths(home, session.session_id)),
  ]));
  const asked = [...new Set(sockets.values())].filter((socket) => socket !== mute);
  const trees = await askAll(asked);
  const known = new Set(trees.flatMap(({ nodes }) => nodes.map((node) => node.session_id)));
  return { trees, silent: open.filter(({ session_id }) => !known.has(session_id)) as OpenSession[] };
}

/** So many are asked at once: each may hold a descriptor and a few megabytes. */
const LANES = 32;

/** From then on nobody else is asked: those before do not answer, ms. */
const PATIENCE_MS = 15_000;

async function askAll(sockets: readonly (string | undefined)[]): Promise<RunningTree[]> {
  const answers: (RunningTree | undefined)[] = [];
  const untilMs = performance.now() + PATIENCE_MS;
  let next = 0;
  const lane = async () => {
    while (next < sockets.length && performance.now() < untilMs) {
      const at = next++;
      answers[at] = await askForNodes(sockets[at]);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return answers.filter((tree) => tree !== undefined);
}

async function askForNodes(socket: string | undefined): Promise<RunningTree | undefined> {
  if (socket === undefined) return undefined;
  try {
    const reply = await askTree(socket, { type: "list" });
    return reply.type === "tree" ? { socket, nodes: reply.nodes } : undefined;
  } catch (error) {
    // It may end between two looks; a session that still runs is listed as silent.
    if (error instanceof CapsuleError) return undefined;
    throw error;
  }
}

const PATH = /^0(\.\d{1,6}){0,64}$/;

/**
 * What a person named: a session by its id, a prefix of it or `last`, or the path of one in the only tree that runs.
 *
 * @throws `records.not_found`; `tree.not_running` when it has ended, or when a path names none or several;
 *   `tree.unreachable` when its tree does not answer
 */
export async function findTarget(home: Home, wanted: string): Promise<Target> {
  return PATH.test(wanted) ? await findByPath(home, wanted) : await findBySession(home, wanted);
}

async function findBySession(home: Home, wanted: string): Promise<Target> {
  const { id } = findSession(home, wanted);
  const isIt = (node: TreeNode) => node.session_id === id;
  const socket = readControlPointer(sessionPaths(home, id));
  const own = await askForNodes(socket);
  const { status } = describeSession(home, id);
  const isMute = status === "running" && socket !== undefined && own === undefined;
  // What a session wrote of itself is its own word; that it runs is its supervisor's.
  const trees = own?.nodes.some(isIt) ? [own] : (await findRunning(home, isMute ? socket : undefined)).trees;
  const [found] = trees.flatMap(({ socket, nodes }) => nodes.filter(isIt).map((node) => ({ socket, node })));
  if (found !== undefined) return found;
  if (status !== "running") {
    throw new CapsuleError("tree.not_running", `Find session: ${id} has ended (${printableLine(status, 20)})`);
  }
  const hint = isMute ? "; if it was stopped (Ctrl-Z), let it go on first: `fg`" : "";
  throw new CapsuleError("tree.unreachable", `Ask session ${id}: it runs, but its supervisor does not answer${hint}`);
}

async function findByPath(home: Home, path: string): Promise<Target> {
  const { trees } = await findRunning(home);
  const found = trees.flatMap(({ socket, nodes }) =>
    nodes.filter((node) => node.path === path).map((node) => ({ socket, node }))
  );
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined) {
    throw new CapsuleError("tree.not_running", `Find ${path}: nothing runs there; see \`boll ps\``);
  }
  const sessions = found.slice(0, 5).map(({ node }) => node.session_id).join(", ");
  throw new CapsuleError(
    "tree.not_running",
    `Find ${path}: ${found.length} trees have it; name a session: ${sessions}`,
  );
}
