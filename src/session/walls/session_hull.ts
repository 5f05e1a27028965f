import { HULL_BASE_DATA_BYTES, WORKER_DATA_BYTES } from "../../grants/mod.ts";
import { ProcessHull } from "../../hull/mod.ts";
import type { SessionLimits } from "../../protocol/control/mod.ts";
import { isCompiled } from "../self_command.ts";

/** A loop's thread, and the one that takes its place before it is gone. */
const LOOP_THREADS = 2;

/** The kernel part of a session from its first moment: it dies with its parent and hands no descriptor on. */
export function openSessionHull(): ProcessHull | undefined {
  if (Deno.build.os !== "linux") return undefined;
  const hull = ProcessHull.open();
  hull.dieWithParent(Number(Deno.env.get("BOLL_PARENT_PID")));
  hull.closeDescriptorsOnExec(3);
  if (isCompiled) return hull;
  hull.close();
  return undefined;
}

/** Bounds this process to its limits, before there is a guest. Under `deno run` nothing is bound, as in a cell. */
export function boundSession(
  hull: ProcessHull | undefined,
  limits: SessionLimits,
  { hasModel }: { readonly hasModel: boolean },
): void {
  const { memory_bytes, cpu_seconds, nice } = limits;
  const base = HULL_BASE_DATA_BYTES + (hasModel ? LOOP_THREADS * WORKER_DATA_BYTES : 0);
  hull?.bound({
    ...(memory_bytes === undefined ? {} : { dataBytes: base + memory_bytes }),
    ...(cpu_seconds === undefined ? {} : { cpuSeconds: cpu_seconds }),
    ...(nice === undefined ? {} : { nice }),
  });
}
