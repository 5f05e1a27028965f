/**
 * `make escape`: tries every escape of the table at every wall alone, prints the table, and exits non-zero when anything
 * did not go as it says. `--markdown` prints the table alone, as `docs/walls.md` has it.
 * @module
 */
import { stop } from "esbuild";
import { Bed } from "../harness.ts";
import { type Grounds, judgeEscape, MANY_ROUNDS, tryEscapes, untried } from "./judge.ts";
import { tryLargeFolder } from "./large_folder.ts";
import { toMarkdown } from "./markdown.ts";
import { ESCAPES, type Verdict, WALL_NAMES } from "./table.ts";
import { judgeNetEscape, tryNetEscapes } from "./network_judge.ts";
import { NET_ESCAPES, NET_WALL_NAMES } from "./network_table.ts";
import { buildVariant } from "./variant/build.ts";

async function tryAll(): Promise<number> {
  const variant = await buildVariant();
  await stop();
  await using bed = new Bed("binary");
  let surprises = 0;
  const report = (name: string, walls: readonly (Verdict | undefined)[], found: readonly string[]) => {
    const cells = walls.map((wall) => (wall === undefined ? "-" : wall.holds ? "holds" : "cannot").padEnd(14));
    console.log([name.padEnd(62), ...cells].join("").trimEnd());
    for (const surprise of found) console.log(`  SURPRISE ${surprise}`);
    surprises += found.length;
  };
  const head = (names: readonly string[]) =>
    console.log(["attempt", ...names].map((name, at) => name.padEnd(at === 0 ? 62 : 14)).join("").trimEnd());
  const tryFiles = async (grounds: Grounds) => {
    head(WALL_NAMES);
    const sightings = await tryEscapes(grounds, ESCAPES);
    for (const [escape, seen] of sightings) {
      report(escape.name, escape.walls, judgeEscape(escape, seen));
      const left = untried(seen);
      if (left.length > 0) console.log(`  not on this host, or not for this user: ${left.join(", ")}`);
    }
    console.log();
  };
  await tryFiles({ bed, variant, rounds: MANY_ROUNDS });
  if (Deno.uid() === 0) {
    console.log("The same as nobody:");
    await using nobodys = new Bed("binary");
    await tryFiles({ bed: nobodys, variant, asNobody: true, rounds: MANY_ROUNDS });
  }
  head(NET_WALL_NAMES);
  const sightings = await tryNetEscapes({ bed, variant }, NET_ESCAPES);
  for (const escape of NET_ESCAPES) {
    const seen = sightings.get(escape);
    if (seen === undefined) console.log(`${escape.name}: not tried, for which one must be root`);
    else report(escape.name, escape.walls, judgeNetEscape(escape, seen));
  }
  console.log();
  const { listed, moved, endedBy } = await tryLargeFolder(bed, 1_000_000, "64m");
  const isRefused = [listed?.err, moved?.err].every((code) => code === "insufficient-memory") && endedBy === "guest";
  console.log(`list and move a folder of 1 000 000 names: ${JSON.stringify({ listed, moved, endedBy })}`);
  if (!isRefused) surprises++;
  console.log(surprises === 0 ? "\nEach wall was tried alone, and did as the table says." : `\n${surprises} surprises`);
  return surprises;
}

if (Deno.args.includes("--markdown")) {
  console.log(`${toMarkdown(WALL_NAMES, ESCAPES)}\n\n${toMarkdown(NET_WALL_NAMES, NET_ESCAPES)}`);
} else if (await tryAll() > 0) Deno.exitCode = 1;
