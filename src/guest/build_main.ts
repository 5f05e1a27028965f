/**
 * A build cell: foreign component bytes in, a checked and transpiled build in the folder it was given out. Loaded by a
 * cell that is about to build, and by nothing else.
 * @module
 */
import { buildComponent } from "../component/build.ts";
import { HULL_BASE_DATA_BYTES } from "../grants/mod.ts";
import type { ProcessHull } from "../hull/mod.ts";
import type { BuildLoad } from "../protocol/mod.ts";
import type { CellChannel } from "./channel.ts";

const BUILD_MEMORY_BYTES = 1024 ** 3;
const BUILD_CPU_SECONDS = 60;

/** Confines this process to one file and one folder, builds, and answers with `done`. @throws `component.*` */
export async function buildInCell(load: BuildLoad, channel: CellChannel, hull: ProcessHull | undefined): Promise<void> {
  confine(load, hull);
  const bytes = Deno.readFileSync(load.component);
  const value = await buildComponent(bytes, load.folder, { memoryMb: load.memory_mb, digest: load.digest });
  await channel.send({ type: "done", id: 0, value });
}

/** Without a kernel wall too, the executable's own permissions go: it is started with all of them. */
function confine(load: BuildLoad, hull: ProcessHull | undefined): void {
  if (hull) raiseHull(load, hull);
  for (const name of ["net", "env", "run", "ffi", "sys", "import"] as const) Deno.permissions.revokeSync({ name });
}

function raiseHull(load: BuildLoad, hull: ProcessHull): void {
  hull.limit({ dataBytes: HULL_BASE_DATA_BYTES + BUILD_MEMORY_BYTES, cpuSeconds: BUILD_CPU_SECONDS });
  hull.confine({
    read: [load.component],
    write: [load.folder],
    execute: [],
    symlinks: false,
    unixSockets: false,
    tty: false,
    tcpConnect: [],
    tcpBind: [],
    udp: false,
    seccomp: true,
  });
  hull.close();
}
