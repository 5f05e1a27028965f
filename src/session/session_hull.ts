import { HULL_BASE_DATA_BYTES } from "../grants/mod.ts";
import { ProcessHull } from "../hull/mod.ts";
import type { SessionLimits } from "../protocol/control/mod.ts";
import { isCompiled } from "./self_command.ts";

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
export function boundSession(hull: ProcessHull | undefined, limits: SessionLimits): void {
  const { memory_bytes, cpu_seconds, nice } = limits;
  hull?.bound({
    ...(memory_bytes === undefined ? {} : { dataBytes: HULL_BASE_DATA_BYTES + memory_bytes }),
    ...(cpu_seconds === undefined ? {} : { cpuSeconds: cpu_seconds }),
    ...(nice === undefined ? {} : { nice }),
  });
}
