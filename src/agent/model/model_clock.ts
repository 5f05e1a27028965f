/** Time, as a model is given it. */
export interface ModelClock {
  /** Never goes back; its zero says nothing. */
  nowMs(): number;
  /** Runs once after so long; what is returned calls it off. */
  after(ms: number, run: () => void): () => void;
}

/** The system's own. */
export const SYSTEM_MODEL_CLOCK: ModelClock = {
  nowMs: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Settles after so long. @throws the signal's reason, at once */
export function waitFor(clock: ModelClock, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  const stop = signal.aborted ? abort : clock.after(ms, resolve);
  if (signal.aborted) abort();
  return promise.finally(() => {
    stop();
    signal.removeEventListener("abort", abort);
  });
}
