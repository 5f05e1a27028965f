import { loadCached } from "../component/mod.ts";
import { toPermissions } from "../grants/mod.ts";
import type { ProcessHull } from "../hull/mod.ts";
import type { ServeLoad, ToCell } from "../protocol/mod.ts";
import type { Denial } from "../wasi/mod.ts";
import type { CellChannel } from "./channel.ts";
import { confineCell, placesOf, refuseName, refuseSymlink, revokeUnneeded, threadOf } from "./confine_cell.ts";
import { GuestWorker } from "./guest_worker.ts";
import { HttpServer } from "./http_server.ts";
import { preopensOf } from "./run_guest.ts";
import type { Emit } from "./served_instance.ts";

/** Instances beside those that work: the spare one, and one that waits for the collector. */
const MORE_INSTANCES = 2;

/** Confines this process, makes the first instance, and serves requests until the parent goes away. Never returns. */
export async function serveHttp(
  load: ServeLoad,
  channel: CellChannel,
  messages: AsyncGenerator<ToCell>,
  hull: ProcessHull | undefined,
): Promise<never> {
  const thread = threadOf(load, hull);
  const instances = load.concurrency + MORE_INSTANCES;
  const raised = confineCell(load, hull, { thread, tty: false, instances });
  const worker = thread === "own" ? new GuestWorker(toPermissions(load.grants, placesOf(load))) : undefined;
  const loaded = loadCached({ dir: load.folders.cache, ...load.component });
  if (!Deno.build.standalone) await worker?.loaded;
  revokeUnneeded(load);
  channel.readInBackground();
  const emit: Emit = (message) => void channel.send(message);
  const take = worker === undefined
    ? await serveHere(new HttpServer(load, loaded, portsOf(emit), emit))
    : await worker.serve({ load, loaded }, preopensOf(load), emit);
  await channel.send({ type: "ready", walls: { ...raised, worker: worker !== undefined } });
  for await (const message of messages) take(message);
  Deno.exit(0);
}

async function serveHere(server: HttpServer): Promise<(message: ToCell) => void> {
  await server.warmUp();
  return (message) => server.take(message);
}

function portsOf(emit: Emit) {
  return {
    onDenied: (denial: Denial) => emit({ type: "denied", wall: 1, ...denial }),
    makeSymlink: refuseSymlink,
    resolve: refuseName,
  };
}
