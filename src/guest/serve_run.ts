import { CapsuleError } from "../base/mod.ts";
import { loadCached } from "../component/mod.ts";
import { type CellPlaces, type GuestThread, guestThread, toHull, toPermissions, toProcess } from "../grants/mod.ts";
import type { ProcessHull } from "../hull/mod.ts";
import type { CellWalls, RunLoad, ToCell } from "../protocol/mod.ts";
import type { Denial, Resolution } from "../wasi/mod.ts";
import type { CellChannel } from "./channel.ts";
import { GuestWorker } from "./guest_worker.ts";
import { preopensOf, runGuest } from "./run_guest.ts";
import type { GuestReport } from "./worker_messages.ts";

const CATEGORIES = ["read", "write", "net", "env", "run", "ffi", "sys", "import"] as const;

/** The engine seeds each of its isolates from here. */
const RANDOM_SOURCES = ["/dev/urandom"];

/** Confines this process, loads the component, gives up what is not needed, waits for `call`, runs, reports. */
export async function serveRun(
  load: RunLoad,
  channel: CellChannel,
  messages: AsyncGenerator<ToCell>,
  hull: ProcessHull | undefined,
): Promise<void> {
  // A cell without a hull needs a thread for its guest: the main one must stay free to see its parent go.
  const thread = hull && load.kernel.landlock ? guestThread(load.grants) : "own";
  const raised = confine(load, hull, thread);
  const worker = thread === "own" ? new GuestWorker(toPermissions(load.grants, placesOf(load))) : undefined;
  const loaded = loadCached({ dir: load.folders.cache, ...load.component });
  if (!Deno.build.standalone) await worker?.loaded;
  revokeUnneeded(load);
  await channel.send({ type: "ready", walls: { ...raised, worker: worker !== undefined } });
  await waitForCall(messages);
  const onDenied = (denial: Denial) => {
    channel.send({ type: "denied", wall: 1, ...denial });
  };
  const running = worker
    ? worker.run({ load, loaded }, preopensOf(load), onDenied, (call) => channel.send({ type: "host_call", ...call }))
    : runGuest(load, loaded, { onDenied, makeSymlink: refuseSymlink, resolve: refuseName });
  await report(await untilOrphaned(running, messages, worker), channel);
}

function placesOf({ folders, network }: RunLoad): CellPlaces {
  if (network === undefined) return folders;
  return { ...folders, gatePort: network.gate_port, udpPeers: network.udp_peers };
}

/** Walls 3 and 4 on this process, as strong as this host has them; whether that is enough the parent decides. */
function confine(load: RunLoad, hull: ProcessHull | undefined, thread: GuestThread): Omit<CellWalls, "worker"> {
  if (!hull) return { landlock: false, seccomp: false, abi: 0 };
  hull.limit(toProcess(load.grants, thread));
  const rules = toHull(load.grants, placesOf(load));
  const report = hull.confine({
    ...rules,
    read: [...rules.read, ...RANDOM_SOURCES],
    tty: load.terminal.includes(true),
    seccomp: load.kernel.seccomp,
  });
  hull.close();
  return { landlock: report.landlock === "on", seccomp: report.seccomp === "on", abi: report.abi };
}

/**
 * Wall 2 on this thread, for good: `--no-prompt` makes a revoked permission unrecoverable. Making a link needs unscoped
 * read and write, so these two stay where something may be written; the walk and wall 4 bind what is left.
 */
function revokeUnneeded(load: RunLoad): void {
  const mayLink = preopensOf(load).some(({ mode }) => mode === "rw");
  for (const name of CATEGORIES) {
    if (mayLink && (name === "read" || name === "write")) continue;
    Deno.permissions.revokeSync({ name });
  }
}

async function waitForCall(messages: AsyncGenerator<ToCell>): Promise<void> {
  const { value, done } = await messages.next();
  if (done || value.type !== "call") {
    throw new CapsuleError("protocol.unexpected", "Run a guest: wanted call after load");
  }
}

/**
 * The guest's report. Meanwhile answers of the parent are passed on; the process ends where it stands when the parent
 * goes away first.
 */
async function untilOrphaned(
  running: Promise<GuestReport>,
  messages: AsyncGenerator<ToCell>,
  worker: GuestWorker | undefined,
): Promise<GuestReport> {
  passAnswers(messages, worker).then(() => Deno.exit(1), () => Deno.exit(1));
  return await running;
}

async function passAnswers(messages: AsyncGenerator<ToCell>, worker: GuestWorker | undefined): Promise<void> {
  for await (const message of messages) {
    if (message.type === "host_result") worker?.answer(message);
  }
}

async function report({ ending, usage }: GuestReport, channel: CellChannel): Promise<void> {
  await channel.send({ type: "usage", ...usage });
  await channel.send({ type: "ended", ...ending });
}

function refuseSymlink(): never {
  throw "not-permitted";
}

/** A guest without a network has nothing that asks. */
function refuseName(): Promise<Resolution> {
  return Promise.resolve({ ok: false, error: "denied" });
}
