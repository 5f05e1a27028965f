const SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

/**
 * From the call on, a signal that asks this process to end aborts the signal that is given back, and nothing else: for
 * the rest of the process, so that a user who asks twice does not cut the record of the first.
 */
export function watchInterrupt(): AbortSignal {
  const controller = new AbortController();
  for (const name of SIGNALS) Deno.addSignalListener(name, () => controller.abort());
  return controller.signal;
}
