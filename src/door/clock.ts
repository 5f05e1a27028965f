/** Time as the door sees it; a test moves it by hand. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls once after that many milliseconds; the result takes it back. */
  after(ms: number, action: () => void): () => void;
}

/** The time of this machine. */
export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};
