import { loadCached } from "../component/mod.ts";
import { toolInstances, toPermissions } from "../grants/mod.ts";
import type { ProcessHull } from "../hull/mod.ts";
import type { ToCell, ToolsLoad } from "../protocol/mod.ts";
import type { CellChannel } from "./channel.ts";
import { confineCell, placesOf, refuseSymlink, revokeUnneeded, threadOf } from "./confine_cell.ts";
import { GuestWorker } from "./guest_worker.ts";
import { HostCalls } from "./host_calls.ts";
import { preopensOf } from "./run_guest.ts";
import type { Emit } from "./served_instance.ts";
import { ToolServer } from "./tool_server.ts";

/** Confines this process, loads every component, and serves calls until the parent goes away. Never returns. */
export async function serveTools(
  load: ToolsLoad,
  channel: CellChannel,
  messages: AsyncGenerator<ToCell>,
  hull: ProcessHull | undefined,
): Promise<never> {
  const thread = threadOf(load, hull);
  const instances = toolInstances(load.grants.limits);
  const raised = confineCell(load, hull, { thread, tty: false, instances });
  const worker = thread === "own" ? new GuestWorker(toPermissions(load.grants, placesOf(load))) : undefined;
  const loaded = load.tools.map(({ folder, component }) => loadCached({ dir: folder, ...component }));
  if (!Deno.build.standalone) await worker?.loaded;
  revokeUnneeded(load);
  channel.readInBackground();
  const emit: Emit = (message) => void channel.send(message);
  const take = worker === undefined
    ? serveHere(load, loaded, emit)
    : await worker.serve({ load, loaded }, preopensOf(load), emit);
  await channel.send({ type: "ready", walls: { ...raised, worker: worker !== undefined } });
  for await (const message of messages) take(message);
  Deno.exit(0);
}

function serveHere(
  load: ToolsLoad,
  loaded: ConstructorParameters<typeof ToolServer>[1],
  emit: Emit,
): (message: ToCell) => void {
  const calls = new HostCalls((call) => emit({ ...call, type: "host_call" }));
  const server = new ToolServer(load, loaded, {
    onDenied: (denial) => emit({ type: "denied", wall: 1, ...denial }),
    makeSymlink: refuseSymlink,
    calls,
  }, emit);
  return (message) => {
    if (message.type === "host_result") calls.settle(message);
    else if (message.type === "delegation_end") calls.end(message);
    else server.take(message);
  };
}
