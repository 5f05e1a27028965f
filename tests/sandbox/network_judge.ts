/**
 * Tries an attempt on the network at the gate and at every wall alone, with all and with none, and says where reality
 * is not what the table says.
 * @module
 */
import { RUNTIME } from "./arena.ts";
import type { Grounds } from "./judge.ts";
import { AROUND, type NetResults, THROUGH, tryNetGuest, tryNetInjected } from "./network_arena.ts";
import { NET_WALL_NAMES, NET_WALLS, type NetEscape } from "./network_table.ts";

/** Every way in which an escape did not go as the table says; none is as it should be. */
export async function judgeNetEscape(grounds: Grounds, escape: NetEscape): Promise<string[]> {
  const surprises = await Promise.all([judgeGuest(grounds, escape), judgeInjected(grounds, escape)]);
  return surprises.flat().map((surprise) => `${escape.name}: ${surprise}`);
}

/** The guest: behind everything, behind wall 1 alone, behind the gate alone, and behind nothing. */
async function judgeGuest({ bed, variant }: Grounds, { attempt, walls }: NetEscape): Promise<string[]> {
  const tryWith = (walls: string) => tryNetGuest({ bed, variant: { path: variant, walls } }, attempt);
  const alone = await tryWith("1");
  const surprises = [
    ...mustHold("a guest behind all walls", await tryNetGuest({ bed }, attempt)),
    ...(walls[0].holds ? mustHold : mustFail)("a guest behind wall 1 alone", alone),
    ...oddRefusals(alone),
  ];
  if (attempt.isMalformed || walls[1] === undefined) return surprises;
  return [
    ...surprises,
    ...mustHold("a guest behind the gate alone", await tryWith("g")),
    ...mustFail("a guest without a wall", await tryWith("")),
  ];
}

/** Code in the guest's thread: around the gate for walls 2 to 4, through it for the gate. */
async function judgeInjected({ bed, variant }: Grounds, { attempt, walls }: NetEscape): Promise<string[]> {
  const tryWith = (walls: string) => tryNetInjected({ bed, variant: { path: variant, walls } }, attempt);
  const bare = await tryWith("");
  const surprises = [
    ...mustGetOut("injected code without a wall", attempt.isMalformed ? only(bare, AROUND) : bare),
    ...mustHold("injected code behind the gate and walls 2 to 4", await tryWith("g234")),
  ];
  for (const [at, verdict] of walls.entries()) {
    if (at === 0 || verdict === undefined) continue; // behind wall 1 alone stands a guest, not this code
    const seen = only(await tryWith(NET_WALLS[at]!), at === 1 ? THROUGH : AROUND);
    const who = `injected code behind ${NET_WALL_NAMES[at]} alone`;
    surprises.push(...(verdict.holds ? mustHold(who, seen) : mustFail(who, seen)));
  }
  return surprises;
}

function only(results: NetResults, prefix: string): NetResults {
  const kept = (name: string) => [prefix, RUNTIME, "twin"].some((start) => name.startsWith(start));
  return Object.fromEntries(Object.entries(results).filter(([name]) => kept(name)));
}

function routesOut(results: NetResults): string[] {
  return Object.keys(results).filter((name) => !name.endsWith("twin") && results[name] === "out");
}

/** No route got out, and the twins worked. */
function mustHold(who: string, results: NetResults): string[] {
  const out = routesOut(results);
  return [...(out.length > 0 ? [`${who} got out: ${out.join(", ")}`] : []), ...twinsWork(who, results)];
}

/** At least one route got out, and none that the runtime itself refuses. */
function mustFail(who: string, results: NetResults): string[] {
  const out = routesOut(results);
  return [
    ...(out.length === 0 ? [`${who} was held, and the table says that it cannot be: ${JSON.stringify(results)}`] : []),
    ...out.filter((name) => name.startsWith(RUNTIME)).map((name) => `${who} got out by ${name}`),
    ...twinsWork(who, results),
  ];
}

/** Every route got out, so that none is refused for being wrong. */
function mustGetOut(who: string, results: NetResults): string[] {
  const held = Object.keys(results).filter((name) => !name.startsWith(RUNTIME) && results[name] !== "out");
  return held.map((name) => `${who} was held at ${name}: ${results[name]}`).concat(mustFail(who, results));
}

function twinsWork(who: string, results: NetResults): string[] {
  const refused = Object.keys(results).filter((name) => name.endsWith("twin") && results[name] !== "out");
  return refused.map((name) => `${who} was refused the allowed ${name}: ${results[name]}`);
}

const REFUSALS = ["denied", "prohibited", "forbidden", "invalid", "body-size", "access-denied"];

/** A guest's route is refused with a WASI code that says so, or else the route is wrong. */
function oddRefusals(results: NetResults): string[] {
  const isOdd = (result: string) => !["out", "ok"].includes(result) && !REFUSALS.some((word) => result.includes(word));
  return Object.entries(results).filter(([, result]) => isOdd(result)).map(([name, result]) =>
    `a guest behind wall 1 alone was refused ${name} with ${result}`
  );
}
