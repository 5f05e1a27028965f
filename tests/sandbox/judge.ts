/**
 * Tries an attempt at every wall alone, with all and with none, and says where reality is not what the table says.
 * @module
 */
import { type Bed } from "../harness.ts";
import { type Observation, RUNTIME, tryAsGuest, tryInjected } from "./arena.ts";
import { type Escape, WALL_NAMES } from "./table.ts";

/** What an escape was tried against. */
export interface Grounds {
  readonly bed: Bed;
  /** The variant executable. */
  readonly variant: string;
}

/** Every way in which an escape did not go as the table says; none is as it should be. */
export async function judgeEscape(grounds: Grounds, escape: Escape): Promise<string[]> {
  const surprises = await Promise.all([judgeGuest(grounds, escape), judgeInjected(grounds, escape)]);
  return surprises.flat().map((surprise) => `${escape.name}: ${surprise}`);
}

/** The guest's own routes, behind all walls and, on the variant, behind wall 1 alone. */
async function judgeGuest({ bed, variant }: Grounds, escape: Escape): Promise<string[]> {
  const all = await tryAsGuest({ bed }, escape.attempt);
  const alone = await tryAsGuest({ bed, variant: { path: variant, walls: "1" } }, escape.attempt);
  return [
    ...mustHold("a guest behind all walls", all),
    ...mustHold("a guest behind wall 1 alone", alone),
    ...oddRefusals(alone),
  ];
}

/** The routes of code in the guest's thread: each must get out of nothing, and none out of everything. */
async function judgeInjected({ bed, variant }: Grounds, escape: Escape): Promise<string[]> {
  const tryWith = (walls: string) => tryInjected({ bed, variant: { path: variant, walls } }, escape.attempt);
  const surprises = [
    ...mustGetOut("injected code without a wall", await tryWith("")),
    ...mustHold("injected code behind walls 2 to 4", await tryWith("234")),
  ];
  for (const [at, verdict] of escape.walls.entries()) {
    if (at === 0 && !escape.beyondWallOne) continue; // behind wall 1 alone stands a guest, not this code
    const seen = await tryWith(String(at + 1));
    const who = `injected code behind wall ${WALL_NAMES[at]} alone`;
    surprises.push(...(verdict.holds ? mustHold(who, seen) : mustFail(who, seen)));
  }
  return surprises;
}

function routesOut({ results }: Observation): string[] {
  return Object.keys(results).filter((name) => name !== "twin" && results[name] === "out");
}

/** No route got out, nothing was changed, and the twin worked. */
function mustHold(who: string, seen: Observation): string[] {
  const out = routesOut(seen);
  return [
    ...(out.length > 0 ? [`${who} got out: ${out.join(", ")}`] : []),
    ...(seen.changed.length > 0 ? [`${who} changed ${seen.changed.join(", ")}`] : []),
    ...twinWorks(who, seen),
  ];
}

/** At least one route got out, and none that the runtime itself refuses. */
function mustFail(who: string, seen: Observation): string[] {
  const out = routesOut(seen);
  const impossible = out.filter((name) => name.startsWith(RUNTIME));
  return [
    ...(out.length === 0 ? [`${who} was held, and the table says that it cannot be`] : []),
    ...impossible.map((name) => `${who} got out by ${name}`),
    ...twinWorks(who, seen),
  ];
}

/** Every route got out, so that none is refused for being wrong. */
function mustGetOut(who: string, seen: Observation): string[] {
  const held = Object.keys(seen.results).filter((name) => !name.startsWith(RUNTIME) && seen.results[name] !== "out");
  return [...held.map((name) => `${who} was held at ${name}: ${seen.results[name]}`), ...mustFail(who, seen)];
}

function twinWorks(who: string, { results }: Observation): string[] {
  return results.twin === "out" ? [] : [`${who} was refused the allowed twin: ${results.twin}`];
}

const REFUSALS = ["not-permitted", "read-only", "no-entry", "bad-descriptor", "not-directory"];

/** A guest's route is refused with a WASI code that says so, or else the route is wrong. */
function oddRefusals({ results }: Observation): string[] {
  const refusals = [...REFUSALS.map((code) => JSON.stringify(code)), "nothing", "out"];
  return Object.entries(results).filter(([, result]) => !refusals.includes(result)).map(([name, result]) =>
    `a guest behind wall 1 alone was refused ${name} with ${result}`
  );
}
