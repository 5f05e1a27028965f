/** Errors of WASI calls. */

/**
 * The WASI value of what a call threw: an error code such as `"no-entry"`, or a variant such as `{ tag: "closed" }`.
 * QuickJS wraps it in an Error with a `payload`. Anything else is a mistake in the guest and is thrown on.
 */
export function wasiError(thrown) {
  if (!(thrown instanceof Error)) return thrown;
  if (thrown.payload === undefined) throw thrown;
  return thrown.payload;
}
