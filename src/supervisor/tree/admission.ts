/** What a tree may hold, and how fast it may grow. */
export interface AdmissionLimits {
  /** The root is at 0. */
  readonly maxDepth: number;
  /** Living children of one session. */
  readonly maxChildren: number;
  /** Living sessions of the tree. */
  readonly maxLive: number;
  /** Starts at once, and how many more each second. */
  readonly burst: number;
  readonly refillPerSecond: number;
}

/** The limits of every tree. */
export const ADMISSION_LIMITS: AdmissionLimits = {
  maxDepth: 4,
  maxChildren: 8,
  maxLive: 64,
  burst: 8,
  refillPerSecond: 2,
};

/** Starts that are left, as of `atMs`. */
export interface RateBucket {
  readonly starts: number;
  readonly atMs: number;
}

/** What the gates are asked about: one start, and the tree as it stands. */
export interface AdmissionFacts {
  readonly draining: boolean;
  /** Of the session to be. */
  readonly depth: number;
  /** The deepest that its caller may reach, itself bounded by the tree's. */
  readonly maxDepth: number;
  readonly children: number;
  readonly live: number;
  readonly wantedTokens: number;
  readonly availableTokens: number;
  readonly bucket: RateBucket;
  readonly nowMs: number;
}

/** The gates, in the order in which they are asked; `caller`, before all of them, is for one that is no living session. */
export type Gate = "caller" | "draining" | "depth" | "breadth" | "live" | "tokens" | "rate";

/** Why a session was not started. It cost no id, no token and no start. */
export interface Refusal {
  readonly kind: "refused";
  readonly gate: Gate;
  /** In words, for the caller. */
  readonly message: string;
}

/** Asks the gates in order; the first that refuses is named. An admission gives the bucket with one start less. */
export function admit(
  facts: AdmissionFacts,
  limits: AdmissionLimits = ADMISSION_LIMITS,
): { readonly kind: "admitted"; readonly bucket: RateBucket } | Refusal {
  const maxDepth = Math.min(limits.maxDepth, facts.maxDepth);
  if (facts.draining) return refuse("draining", "the tree is ending and starts nothing");
  if (facts.depth > maxDepth) return refuse("depth", `depth ${facts.depth} is not allowed, at most ${maxDepth} is`);
  if (facts.children >= limits.maxChildren) {
    return refuse("breadth", `the session has ${facts.children} living children, at most ${limits.maxChildren} may be`);
  }
  if (facts.live >= limits.maxLive) {
    return refuse("live", `the tree has ${facts.live} living sessions, at most ${limits.maxLive} may be`);
  }
  if (facts.wantedTokens < 1 || facts.wantedTokens > facts.availableTokens) {
    const left = Math.max(0, facts.availableTokens);
    return refuse("tokens", `${facts.wantedTokens} tokens cannot be reserved, wanted 1 to the ${left} that are left`);
  }
  const bucket = refill(facts.bucket, facts.nowMs, limits);
  if (bucket.starts < 1) {
    const waitMs = Math.ceil((1 - bucket.starts) / limits.refillPerSecond * 1_000);
    return refuse("rate", `sessions were started too fast, the next may be in ${waitMs} ms`);
  }
  return { kind: "admitted", bucket: { ...bucket, starts: bucket.starts - 1 } };
}

/** A clock that jumps back gives nothing and takes nothing. */
function refill(bucket: RateBucket, nowMs: number, limits: AdmissionLimits): RateBucket {
  const seconds = Math.max(0, nowMs - bucket.atMs) / 1_000;
  return {
    starts: Math.min(limits.burst, bucket.starts + seconds * limits.refillPerSecond),
    atMs: Math.max(bucket.atMs, nowMs),
  };
}

function refuse(gate: Gate, why: string): Refusal {
  return { kind: "refused", gate, message: `Start a session: ${why}` };
}
