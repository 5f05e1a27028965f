/**
 * `make escape`: tries every escape of the table at every wall alone, prints the table, and exits non-zero when anything
 * did not go as it says. `--markdown` prints the table alone, as the README has it.
 * @module
 */
import { stop } from "esbuild";
import { Bed } from "../harness.ts";
import { judgeEscape } from "./judge.ts";
import { toMarkdown } from "./markdown.ts";
import { ESCAPES, WALL_NAMES } from "./table.ts";
import { buildVariant } from "./variant/build.ts";

async function tryAll(): Promise<number> {
  const variant = await buildVariant();
  await stop();
  await using bed = new Bed("binary");
  let surprises = 0;
  console.log(["attempt".padEnd(62), ...WALL_NAMES.map((name) => name.padEnd(14))].join(""));
  for (const escape of ESCAPES) {
    const found = await judgeEscape({ bed, variant }, escape);
    const cells = escape.walls.map(({ holds }) => (holds ? "holds" : "cannot").padEnd(14));
    console.log([escape.name.padEnd(62), ...cells].join("").trimEnd());
    for (const surprise of found) console.log(`  SURPRISE ${surprise}`);
    surprises += found.length;
  }
  console.log(surprises === 0 ? "\nEach wall was tried alone, and did as the table says." : `\n${surprises} surprises`);
  return surprises;
}

if (Deno.args.includes("--markdown")) console.log(toMarkdown(ESCAPES));
else if (await tryAll() > 0) Deno.exitCode = 1;
