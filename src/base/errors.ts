/**
 * Every failure the code can name, and the exit status each one ends the process with.
 * A child's ending is not an error: it is a tagged `Outcome`.
 */

/** Exit status per error code: the one table (README, "Exit codes"). */
export const EXIT_STATUS = {
  "usage.unknown_verb": 2,
  "usage.unknown_flag": 2,
  "usage.bad_value": 2,
  "usage.missing_argument": 2,
  "usage.unexpected_argument": 2,
  "capsule.not_found": 2,
  "capsule.bad_file": 2,
  "capsule.changed": 2,
  "capsule.is_agent": 2,
  "capsule.not_installed": 2,
  "manifest.not_found": 2,
  "manifest.unreadable": 2,
  "manifest.syntax": 2,
  "manifest.invalid": 2,
  "workspace.invalid": 2,
  "workspace.exists": 2,
  "lock.not_found": 2,
  "lock.invalid": 2,
  "lock.unresolved": 2,
  "lock.not_current": 1,
  "component.not_wasm": 2,
  "component.core_module": 2,
  "component.invalid": 2,
  "component.unsupported": 2,
  "component.no_run_export": 2,
  "component.no_handler_export": 2,
  "component.no_tool_export": 2,
  "component.too_large": 2,
  "component.memory_exceeds_cap": 2,
  "component.build_failed": 1,
  "component.cache_mismatch": 1,
  "grant.exceeds_ceiling": 5,
  "grant.unbound_mount": 5,
  "grant.import_not_granted": 5,
  "grant.protected_path": 5,
  "grant.bad_mount": 5,
  "grant.bad_net": 2,
  "inference.bad_uri": 2,
  "secret.unusable": 2,
  "grant.floor_unmet": 5,
  "consent.required": 5,
  "consent.refused": 5,
  "trust.unreadable": 1,
  "home.unwritable": 1,
  "host.failed": 1,
  "runtime.unusable": 1,
  "records.not_found": 2,
  "records.unreadable": 1,
  "records.running": 1,
  "protocol.frame_too_large": 1,
  "protocol.truncated": 1,
  "protocol.not_json": 1,
  "protocol.bad_field": 1,
  "protocol.unexpected": 1,
  "payload.bad_spawner": 2,
  "payload.over_ceiling": 2,
  "payload.unsupported": 2,
  "role.unsupported": 2,
  "service.listen_failed": 1,
  "door.store_unsafe": 1,
  "door.store_unreadable": 1,
  "service.running": 1,
  "service.not_found": 2,
  "door.open_refused": 5,
  "door.not_served": 5,
  "door.unreachable": 4,
  "door.unauthenticated": 5,
  "door.refused": 1,
  "door.rejected": 5,
  "door.unknown_task": 2,
  "door.interrupted": 130,
  "tree.not_running": 2,
  "tree.unreachable": 1,
  "tree.refused": 1,
  "tree.interrupted": 130,
  "model.unreachable": 4,
  "model.unauthorized": 1,
  "model.rejected": 1,
  "model.bad_answer": 1,
  "tool.unknown": 2,
  "tool.bad_description": 2,
  "tool.describe_failed": 1,
  "cell.start_failed": 1,
  "cell.crashed": 1,
  "stdout.failed": 1,
  "hull.failed": 1,
  "hull.unavailable": 1,
  "internal": 1,
} as const satisfies Record<string, number>;

/** One name per kind of failure, `room.what`. */
export type ErrorCode = keyof typeof EXIT_STATUS;

/** Options of {@link CapsuleError}: the underlying error, and every further problem when several were found at once. */
export interface CapsuleErrorOptions {
  readonly cause?: unknown;
  readonly problems?: readonly string[];
}

/** A failure with a code. Message: capital, no period, action: found and wanted, where, the fix when known; never a secret. */
export class CapsuleError extends Error {
  override readonly name = "CapsuleError";
  readonly code: ErrorCode;
  readonly problems: readonly string[];

  constructor(code: ErrorCode, message: string, options: CapsuleErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.problems = options.problems ?? [];
  }

  /** The exit status this failure ends the process with. */
  get exitStatus(): number {
    return EXIT_STATUS[this.code];
  }
}

/** The code of an error that this bundle or another one of this program threw: each has a class of its own. */
export function errorCodeOf(error: unknown): ErrorCode | undefined {
  if (!(error instanceof Error) || error.name !== "CapsuleError") return undefined;
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" && Object.hasOwn(EXIT_STATUS, code) ? code as ErrorCode : undefined;
}
