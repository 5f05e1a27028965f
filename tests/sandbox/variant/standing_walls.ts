/** Which walls stand in this process. Only a variant executable holds this module: the product has no such switch. */
const PREFIX = "--standing-walls=";
const VARIABLE = "BOLL_TEST_STANDING_WALLS";

const standing: string = Deno.args.find((word) => word.startsWith(PREFIX))?.slice(PREFIX.length) ??
  Deno.env.get(VARIABLE) ?? "g1234";

/** Does this wall stand? `g` is the gate; of wall 4 `s` is the supervisor's layer alone, `c` the cell's own. */
export function stands(wall: 1 | 2 | 3 | 4 | "g" | "s" | "c"): boolean {
  return standing.includes(String(wall));
}

/** What tells the same to a child, whose environment is a wall's own matter. */
export const STANDING_ARGUMENTS: readonly string[] = [PREFIX + standing];
