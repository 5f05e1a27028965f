import { CapsuleError } from "../base/mod.ts";
import { loadCached } from "../component/mod.ts";
import { toPermissions } from "../grants/mod.ts";
import type { ProcessHull } from "../hull/mod.ts";
import type { HostCall, RunLoad, ToCell } from "../protocol/mod.ts";
import type { Denial } from "../wasi/mod.ts";
import type { CellChannel } from "./channel.ts";
import { HostCalls } from "./host_calls.ts";
import { confineCell, placesOf, refuseName, refuseSymlink, revokeUnneeded, threadOf } from "./confine_cell.ts";
import { GuestWorker } from "./guest_worker.ts";
import { preopensOf, runGuest } from "./run_guest.ts";
import type { GuestReport } from "./worker_messages.ts";

/** Confines this process, loads the component, gives up what is not needed, waits for `call`, runs, reports. */
export async function serveRun(
  load: RunLoad,
  channel: CellChannel,
  messages: AsyncGenerator<ToCell>,
  hull: ProcessHull | undefined,
): Promise<void> {
  const thread = threadOf(load, hull);
  const raised = confineCell(load, hull, { thread, tty: load.terminal.includes(true) });
  const worker = thread === "own" ? new GuestWorker(toPermissions(load.grants, placesOf(load))) : undefined;
  const loaded = loadCached({ dir: load.folders.cache, ...load.component });
  if (!Deno.build.standalone) await worker?.loaded;
  revokeUnneeded(load);
  await channel.send({ type: "ready", walls: { ...raised, worker: worker !== undefined } });
  await waitForCall(messages);
  // What comes from the guest's thread never chooses the kind of a message.
  const onDenied = (denial: Denial) => {
    channel.send({ ...denial, type: "denied", wall: 1 });
  };
  const onCall = (call: HostCall) => {
    channel.send({ ...call, type: "host_call" });
  };
  if (worker) {
    const running = worker.run({ load, loaded }, preopensOf(load), onDenied, onCall);
    return await report(await untilOrphaned(running, messages, worker), channel);
  }
  const calls = new HostCalls(onCall);
  const running = runGuest(load, loaded, {
    onDenied,
    makeSymlink: refuseSymlink,
    resolve: refuseName,
    delegate: (request) => calls.delegate(request),
  });
  await report(await untilOrphaned(running, messages, calls), channel);
}

/** Where answers of the parent go: the guest's thread, wherever it is. */
type AnswerTaker = Pick<GuestWorker, "settle" | "end">;

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
  guest: AnswerTaker,
): Promise<GuestReport> {
  passAnswers(messages, guest).then(() => Deno.exit(1), () => Deno.exit(1));
  return await running;
}

async function passAnswers(messages: AsyncGenerator<ToCell>, guest: AnswerTaker): Promise<void> {
  for await (const message of messages) {
    if (message.type === "host_result") guest.settle(message);
    else if (message.type === "delegation_end") guest.end(message);
  }
}

async function report({ ending, usage }: GuestReport, channel: CellChannel): Promise<void> {
  await channel.send({ ...usage, type: "usage" });
  await channel.send({ ...ending, type: "ended" });
}
