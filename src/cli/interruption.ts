/** Descriptors that the first listener takes. */
const LISTENER_FILES = 2;

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

/**
 * From the call on, a write past a limit of the caller's (`ulimit -f`) is an error of that write, and no death.
 * @throws the host's error when the caller's limit of open files (`ulimit -n`) leaves no room to hear of signals
 */
export function outliveFileLimit(): void {
  if (Deno.build.os === "windows") return;
  findRoom();
  Deno.addSignalListener("SIGXFSZ", () => {});
}

/** Where the first listener does not get its descriptors, the runtime aborts instead of throwing. */
function findRoom(): void {
  const files: Deno.FsFile[] = [];
  try {
    for (let i = 0; i < LISTENER_FILES; i++) files.push(Deno.openSync("/dev/null"));
  } catch (error) {
    // Behind somebody's walls it may be out of reach, which says nothing of room.
    if ((error as { readonly code?: unknown }).code === "EMFILE") throw error;
  } finally {
    for (const file of files) file.close();
  }
}
