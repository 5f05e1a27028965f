/** Which walls stand in this process. Only a variant executable holds this module: the product has no such switch. */
const PREFIX = "--standing-walls=";
const VARIABLE = "BOLL_TEST_STANDING_WALLS";

const standing: string = Deno.args.find((word) => word.startsWith(PREFIX))?.slice(PREFIX.length) ??
  Deno.env.get(VARIABLE) ?? "1234";

/** Does wall `number` stand? */
export function stands(number: 1 | 2 | 3 | 4): boolean {
  return standing.includes(String(number));
}

/** What tells the same to a child, whose environment is a wall's own matter. */
export const STANDING_ARGUMENTS: readonly string[] = [PREFIX + standing];
