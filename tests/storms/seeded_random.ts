/** Numbers in [0, 1) that a seed repeats: mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A seed of its own for each run of the tests, unless `BOLL_STORM_SEED` names one; a test says it when it fails. */
export function stormSeed(): number {
  return Number(Deno.env.get("BOLL_STORM_SEED") ?? Math.floor(Math.random() * 2 ** 32));
}
