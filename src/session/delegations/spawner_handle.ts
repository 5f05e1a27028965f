import { CapsuleError } from "../../base/mod.ts";

/** Which session, in which context, by which delegation a session was started for; with `url`, where it reports to. */
export interface SpawnerHandle {
  readonly session_id: string;
  readonly context_id: string;
  readonly delegation_id: string;
  readonly url?: string;
}

/** The value of `BOLL_SPAWNER`. */
export function encodeSpawner({ session_id, context_id, delegation_id, url }: SpawnerHandle): string {
  return JSON.stringify({ session_id, context_id, delegation_id, ...(url === undefined ? {} : { url }) });
}

/**
 * Reads the value of `BOLL_SPAWNER`: unset or blank is nobody's child, and one that cannot be read is
 * an error, never an absence.
 * @throws `payload.bad_spawner`
 */
export function readSpawner(value: string | undefined): SpawnerHandle | undefined {
  const text = value?.trim() ?? "";
  return text === "" ? undefined : parseSpawner(text);
}

/** @throws `payload.bad_spawner` */
export function parseSpawner(handle: string): SpawnerHandle {
  let found: unknown;
  try {
    found = JSON.parse(handle);
  } catch {
    throw refuse("it is not JSON");
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw refuse("it is not an object");
  const fields = found as Record<string, unknown>;
  const text = (key: string) => {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (typeof value !== "string" || value === "") throw refuse(`${key} is not a text`);
    return value;
  };
  return {
    session_id: text("session_id"),
    context_id: text("context_id"),
    delegation_id: text("delegation_id"),
    ...(Object.hasOwn(fields, "url") ? { url: text("url") } : {}),
  };
}

function refuse(why: string): CapsuleError {
  return new CapsuleError(
    "payload.bad_spawner",
    `Read BOLL_SPAWNER: ${why}, and without it a session could not tell its spawner that it finished`,
  );
}
