/** Time, as a supervisor is given it. */
export interface Clock {
  /** Never goes back; its zero says nothing. */
  nowMs(): number;
  /** Milliseconds since the epoch, for who reads them. */
  epochMs(): number;
  /** Runs once after so long; what is returned calls it off. */
  after(ms: number, run: () => void): () => void;
}

/** The system's own. */
export const SYSTEM_CLOCK: Clock = {
  nowMs: () => performance.now(),
  epochMs: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Settles after so long. */
export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
