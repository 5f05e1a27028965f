import { CapsuleError } from "../base/mod.ts";
import type { Grants } from "../grants/mod.ts";
import { SESSION_CEILINGS, type SpawnPayload } from "../protocol/control/mod.ts";
import { captureGrants } from "./cell/run_captured.ts";

const MIB = 1024 * 1024;

/**
 * A session that asks for more than any is given is not started smaller.
 * @throws `payload.over_ceiling`
 */
export function checkLimits({ limits, depth, grants }: SpawnPayload): void {
  const over = (Object.keys(SESSION_CEILINGS) as (keyof typeof SESSION_CEILINGS)[]).filter((name) =>
    limits[name] > SESSION_CEILINGS[name]
  );
  if (over.length > 0) {
    const [name] = over;
    throw refuse(`${name} is ${limits[name!]}, at most ${SESSION_CEILINGS[name!]} is given`);
  }
  if (depth > SESSION_CEILINGS.max_depth) {
    throw refuse(`depth is ${depth}, at most ${SESSION_CEILINGS.max_depth} is given`);
  }
  const { memory_bytes } = limits;
  if (memory_bytes !== undefined && grants.limits.memory_mb * MIB > memory_bytes) {
    throw refuse(
      `a guest's memory is ${grants.limits.memory_mb} MiB, all that the session has is ${memory_bytes} bytes`,
    );
  }
}

/** The payload's grants within its limits: what its guests use is used in the session's name. */
export function narrowToLimits({ limits, grants }: Pick<SpawnPayload, "limits" | "grants">): Grants {
  const captured = captureGrants(grants);
  if (limits.cpu_seconds === undefined) return captured;
  const cpuSeconds = Math.min(limits.cpu_seconds, grants.limits.cpu_seconds ?? Infinity);
  return { ...captured, limits: { ...captured.limits, cpu_seconds: cpuSeconds } };
}

function refuse(why: string): CapsuleError {
  return new CapsuleError("payload.over_ceiling", `Start a session: ${why}`);
}
