import type { GuestEnding } from "../protocol/mod.ts";
import { GuestExit, LimitReached } from "../wasi/mod.ts";

const DETAIL_MAX_LENGTH = 1_000;

/** What ended a guest, from whatever came out of its `run`: an exit, a limit, its own `err`, or a trap by kind. */
export function classifyThrown(thrown: unknown): GuestEnding {
  if (thrown instanceof GuestExit) return { kind: "exit", code: thrown.code };
  if (thrown instanceof LimitReached) return { kind: "limit", limit: thrown.limit };
  if (isGuestError(thrown)) return { kind: "exit", code: 1 };
  const detail = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : "the host threw a value";
  return { kind: "trap", trap: trapKind(thrown), detail: detail.slice(0, DETAIL_MAX_LENGTH) };
}

/** A function returned `err`: the transpiled code throws its own ComponentError, which carries the payload. */
export function isGuestError(thrown: unknown): thrown is Error & { readonly payload: unknown } {
  return thrown instanceof Error && thrown.constructor.name === "ComponentError" && Object.hasOwn(thrown, "payload");
}

function trapKind(thrown: unknown): string {
  if (thrown instanceof RangeError && /call stack/.test(thrown.message)) return "stack";
  if (!(thrown instanceof WebAssembly.RuntimeError)) return "host";
  const message = thrown.message;
  if (/unreachable/.test(message)) return "unreachable";
  if (/out of bounds/.test(message)) return "out_of_bounds";
  if (/divide|remainder/.test(message)) return "arithmetic";
  return "other";
}
