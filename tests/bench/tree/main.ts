/**
 * The bench's own supervisor, compiled into a program that is nothing else: a process that starts others pays for its own
 * size. Measures one part and prints what it found as JSON.
 *
 *     tree-program PART SETUP
 * @module
 */
import { timeCrowds } from "./crowds.ts";
import { timeFrames } from "./frames.ts";
import { countResults } from "./results.ts";
import type { TreeSetup } from "./setup.ts";
import { timeStarts } from "./starts.ts";

/** What is measured, by name. */
const PARTS = { starts: timeStarts, crowds: timeCrowds, frames: timeFrames, results: countResults } as const;

/** Names of parts. */
export type TreePart = keyof typeof PARTS;

/** What each part finds. */
export type TreeFindings = { readonly [Part in TreePart]: Awaited<ReturnType<typeof PARTS[Part]>> };

if (import.meta.main) {
  const [part, setup] = Deno.args;
  const found = await PARTS[part as TreePart](JSON.parse(setup!) as TreeSetup);
  console.log(JSON.stringify(found));
  Deno.exit(0);
}
