const SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

/**
 * From the call on, a signal that asks this process to end aborts the signal that is given back, and nothing else: for
 * the rest of the process, so that a user who asks twice does not cut the record of the first.
 */
export function watchInterrupt(): AbortSignal {
  return watchInterrupts().first;
}

/** The same, for who has something to finish: a second signal asks for an end at once. */
export function watchInterrupts(): { readonly first: AbortSignal; readonly second: AbortSignal } {
  const [first, second] = [new AbortController(), new AbortController()];
  const onSignal = () => (first.signal.aborted ? second : first).abort();
  for (const name of SIGNALS) Deno.addSignalListener(name, onSignal);
  return { first: first.signal, second: second.signal };
}

/** The same, for who goes on: each signal is heard, and ends nothing by itself. */
export function hearInterrupts(hear: (kind: "interrupt" | "end") => void): void {
  for (const name of SIGNALS) Deno.addSignalListener(name, () => hear(name === "SIGINT" ? "interrupt" : "end"));
}

/** From the call on, a write past a limit of the caller's (`ulimit -f`) is an error of that write, and no death. */
export function outliveFileLimit(): void {
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGXFSZ", () => {});
}
