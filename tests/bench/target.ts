/** A ratio that was set before anything was measured. */
export interface Target {
  readonly kind: "at most" | "at least" | "more than";
  readonly ratio: number;
}

/** The targets, one place for all. */
export const TARGETS = {
  /** A warm run behind all walls, against an empty compiled program. */
  run: { kind: "at most", ratio: 4 },
  /** The same for a guest with stdio only. */
  smallestRun: { kind: "at most", ratio: 3 },
  /** How many times faster a warm run is than `jco run`. */
  jcoRun: { kind: "at least", ratio: 8 },
  /** … than Deno with preview2-shim. */
  shimRun: { kind: "more than", ratio: 1 },
  /** A file operation against the same Deno calls. */
  directFiles: { kind: "at most", ratio: 2 },
  /** How many times faster it is than through preview2-shim. */
  shimFiles: { kind: "at least", ratio: 10 },
} as const satisfies Record<string, Target>;

/**
 * The target and whether the ratio, as measured and not as rounded, meets it. A difference of runs that are as long as
 * each other gives no ratio.
 */
export function judge(ratio: number, { kind, ratio: wanted }: Target): string {
  const isMet = kind === "at most" ? ratio <= wanted : kind === "at least" ? ratio >= wanted : ratio > wanted;
  const sign = { "at most": "≤", "at least": "≥", "more than": ">" }[kind];
  if (!Number.isFinite(ratio) || ratio <= 0) return `${sign} ${wanted}: not measured`;
  return `${sign} ${wanted}: ${isMet ? "met" : "missed"}`;
}
