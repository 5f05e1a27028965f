/**
 * A supervisor under load: `SESSIONS` sessions at once, each that ends replaced by another kind, paused, resumed and
 * stopped at random, until SIGTERM, which drains it. Says what it does in JSON lines.
 *
 *     tree_program.ts SESSIONS SEED
 * @module
 */
import { ProcessTree } from "../../src/hull/mod.ts";
import { readSummary, writeControlPointer } from "../../src/records/mod.ts";
import { type PreparedSession, recordEnding } from "../../src/session/mod.ts";
import type { TreeAction } from "../../src/protocol/tree/mod.ts";
import { CHILD_TIMINGS, type ChildEnding, Supervisor } from "../../src/supervisor/tree/mod.ts";
import { TreeSocket } from "../../src/supervisor/tree_socket/mod.ts";
import { Bed } from "../harness.ts";
import { type Kind, KINDS, prepareParent } from "./kinds.ts";

const [sessions = 40, seed = 1] = Deno.args.map(Number);
const CHILDREN = 7;
/** How long a session is held at most, ms. */
const HELD_MS = 10_000;
const random = mulberry(seed);
const bed = new Bed("binary");
const prepared = new Map<string, PreparedSession>();
const counts = { started: 0, ended: 0, stopped: 0, refused: 0 };
const surprises: string[] = [];
/** Of each session that lives, the last that was heard of its being held. */
const lastHeld = new Map<string, string>();
let draining = false;

// Before the reaper is there: what it did not see being started it would take for a stranger's.
for (const kind of KINDS) {
  const { prepared } = await kind.prepare(bed);
  prepared[Symbol.dispose]();
  Deno.removeSync(prepared.places.root, { recursive: true });
}
using processes = ProcessTree.open();
processes.becomeSubreaper();
// A session that floods answers no ping meanwhile, and this process may stand still while it starts others: what waits
// unread then must not make it look silent.
const liveness = { progressMs: 20_000, pongMs: 8_000 };
const tree = new Supervisor({
  treeTokens: 1_000_000_000,
  admission: { maxDepth: 4, maxChildren: 8, maxLive: 64, burst: 16, refillPerSecond: 20 },
  timings: { ...CHILD_TIMINGS, liveness, cancelMs: 2_000, termMs: 1_000 },
  ports: {
    record,
    processes,
    notice(child, notice) {
      if (notice.kind === "event" && notice.event.startsWith("loop.")) lastHeld.set(child.path, notice.event);
    },
  },
});
const socketPath = `${bed.root}/tree`;
await using _socket = TreeSocket.open(socketPath, tree);

function record(ending: ChildEnding): void {
  const session = prepared.get(ending.session_id);
  if (session === undefined) return;
  recordEnding(session.places, ending);
  session[Symbol.dispose]();
  prepared.delete(ending.session_id);
}

/** Starts one and comes back when it has ended. */
async function live(kind: Kind, parent: string): Promise<void> {
  let places: PreparedSession["places"] | undefined;
  const { prepared: session, launch } = await kind.prepare(bed);
  const child = tree.spawn({
    parent,
    limits: launch.payload.limits,
    role: "command",
    prepare() {
      prepared.set(session.places.id, session);
      places = session.places;
      writeControlPointer(places, socketPath);
      return launch;
    },
  });
  if (child.kind === "refused") {
    counts.refused++;
    session[Symbol.dispose]();
    Deno.removeSync(session.places.root, { recursive: true });
    return await new Promise((resolve) => setTimeout(resolve, 100));
  }
  counts.started++;
  const ending = await child.ended;
  counts.ended++;
  const found = `${ending.status}/${ending.ended_by}`;
  const recorded = places === undefined ? "nothing" : readSummary(places)?.ended_by ?? "nothing";
  const held = lastHeld.get(child.path) ?? "never held";
  lastHeld.delete(child.path);
  const wasStopped = found === "cancelled/terminated" || found === "cancelled/interrupted";
  if (wasStopped) counts.stopped++;
  else if (found !== kind.ending || recorded !== kind.recorded) {
    surprises.push(
      `${kind.name}: ${found}, recorded ${recorded}; wanted ${kind.ending}, ${kind.recorded}; ${held}: ` +
        `${ending.detail} ${ending.tail}`,
    );
  }
  if (recorded === "nothing") surprises.push(`${kind.name}: nothing is recorded`);
  if (ending.survivors) surprises.push(`${kind.name}: ${ending.survivors} outlived it`);
}

/** One after the other below that parent. */
async function keepBusy(parent: string): Promise<void> {
  while (!draining) await live(KINDS[Math.floor(random() * KINDS.length)]!, parent);
}

/** Holds and stops what it finds. What it holds it lets go again in time: a deadline goes on for one that is held. */
async function meddle(): Promise<void> {
  const heldUntil = new Map<string, number>();
  while (!draining) {
    await new Promise((resolve) => setTimeout(resolve, 150));
    for (const [path, untilMs] of heldUntil) {
      if (performance.now() < untilMs) continue;
      heldUntil.delete(path);
      act("resume", path);
    }
    const nodes = tree.list().filter(({ path }) => path.includes(".") && !heldUntil.has(path));
    const node = nodes[Math.floor(random() * nodes.length)];
    if (node === undefined) continue;
    if (random() < 0.2) act("stop", node.path);
    else if (act("pause", node.path)) heldUntil.set(node.path, performance.now() + HELD_MS * random());
  }
  for (const { path } of tree.list()) tree.child(path)?.resume();
}

/** False when it has ended meanwhile. */
function act(action: TreeAction, path: string): boolean {
  try {
    tree.act(action, path);
    return true;
  } catch {
    return false;
  }
}

function tell(): void {
  const nodes = tree.list();
  say({
    alive: nodes.filter(({ pid }) => pid > 0).length,
    rss: Deno.memoryUsage().rss,
    heap: Deno.memoryUsage().heapUsed,
    ...counts,
    surprises: surprises.length,
  });
}

function say(line: object): void {
  console.log(JSON.stringify(line));
}

/** Small and seeded, so that a soak can be run again. */
function mulberry(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function startParent(): Promise<string> {
  const { prepared: session, launch } = await prepareParent(bed);
  const child = tree.spawn({
    limits: launch.payload.limits,
    warm: true,
    prepare() {
      prepared.set(session.places.id, session);
      writeControlPointer(session.places, socketPath);
      return launch;
    },
  });
  if (child.kind === "refused") throw new Error(child.message);
  return child.path;
}

const asked = Promise.withResolvers<void>();
for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, () => asked.resolve());
say({ root: bed.root, home: bed.home, run: `${bed.root}/run`, pid: Deno.pid });
const parents: string[] = [];
for (let left = sessions; left > 0; left -= CHILDREN + 1) parents.push(await startParent());
const work = parents.flatMap((parent) => Array.from({ length: CHILDREN }, () => keepBusy(parent)));
const meddling = meddle();
const telling = setInterval(tell, 2_000);
await asked.promise;
draining = true;
await meddling;
const report = await tree.drain();
await Promise.all(work);
clearInterval(telling);
tell();
say({
  drained: report.endings.length,
  killed: report.killed,
  stragglers: report.stragglers.map(({ path }) => path),
  slots: tree.list().length,
  reserved: tree.budget.holders,
  unrecorded: prepared.size,
  surprises,
});
Deno.exit(surprises.length === 0 && report.stragglers.length === 0 && prepared.size === 0 ? 0 : 1);
