/**
 * Tries attempts on the network at the gate and at every wall alone, with all and with none, and says where reality is
 * not what the table says. One run makes all attempts at the same walls.
 * @module
 */
import { RUNTIME } from "./arena.ts";
import type { Grounds } from "./judge.ts";
import { AROUND, canNameServers, type NetResults, THROUGH, tryNetGuest, tryNetInjected } from "./network_arena.ts";
import type { NetAttempt } from "./network_attempt.ts";
import { NET_WALL_NAMES, NET_WALLS, type NetEscape } from "./network_table.ts";

const GUEST_WALLS = ["product", "1", "g", ""] as const;
const INJECTED_WALLS = ["", "g234", "g", "2", "3", "4"] as const;

/** What one attempt saw, by the walls that stood. */
export interface Sighting {
  readonly guest: Readonly<Record<(typeof GUEST_WALLS)[number], NetResults>>;
  readonly injected: Readonly<Record<(typeof INJECTED_WALLS)[number], NetResults>>;
}

/** Whether an attempt can be made here at all. */
export function canTry({ attempt }: NetEscape): boolean {
  return canNameServers || attempt.needsNames !== true;
}

/** Makes every attempt that can be made here, at all walls. */
export async function tryNetEscapes(
  grounds: Grounds,
  escapes: readonly NetEscape[],
): Promise<Map<NetEscape, Sighting>> {
  const sightings = new Map<NetEscape, Sighting>();
  const tried = escapes.filter(canTry);
  const alone = tried.filter(({ attempt }) => attempt.environment !== undefined);
  const together = tried.filter((escape) => !alone.includes(escape));
  for (const group of [together, ...alone.map((escape) => [escape])]) {
    const seen = await tryGroup(grounds, group.map(({ attempt }) => attempt));
    group.forEach((escape, at) => sightings.set(escape, seen[at]!));
  }
  return sightings;
}

async function tryGroup({ bed, variant: path }: Grounds, attempts: readonly NetAttempt[]): Promise<Sighting[]> {
  const sightings = attempts.map(() => ({ guest: {}, injected: {} })) as unknown as {
    guest: Record<string, NetResults>;
    injected: Record<string, NetResults>;
  }[];
  for (const walls of GUEST_WALLS) {
    const stage = walls === "product" ? { bed } : { bed, variant: { path, walls } };
    const seen = await tryNetGuest(stage, attempts);
    seen.forEach((results, at) => sightings[at]!.guest[walls] = results);
  }
  for (const walls of INJECTED_WALLS) {
    const seen = await tryNetInjected({ bed, variant: { path, walls } }, attempts);
    seen.forEach((results, at) => sightings[at]!.injected[walls] = results);
  }
  return sightings as unknown as Sighting[];
}

/** Every way in which an escape did not go as the table says; none is as it should be. */
export function judgeNetEscape(escape: NetEscape, seen: Sighting): string[] {
  const surprises = [...judgeGuest(escape, seen), ...judgeInjected(escape, seen)];
  return surprises.map((surprise) => `${escape.name}: ${surprise}`);
}

/** The guest: behind everything, behind wall 1 alone, behind the gate alone, and behind nothing. */
function judgeGuest({ attempt, walls }: NetEscape, { guest }: Sighting): string[] {
  const surprises = [
    ...mustHold("a guest behind all walls", guest.product),
    ...(walls[0].holds ? mustHold : mustFail)("a guest behind wall 1 alone", guest["1"]),
    ...oddRefusals(guest["1"]),
  ];
  if (attempt.isMalformed || walls[1] === undefined) return surprises;
  return [
    ...surprises,
    ...mustHold("a guest behind the gate alone", guest.g),
    ...mustFail("a guest without a wall", guest[""]),
  ];
}

/** Code in the guest's thread: around the gate for walls 2 to 4, through it for the gate. */
function judgeInjected({ attempt, walls }: NetEscape, { injected }: Sighting): string[] {
  const bare = injected[""];
  const surprises = [
    ...mustGetOut("injected code without a wall", attempt.isMalformed ? only(bare, AROUND) : bare),
    ...mustHold("injected code behind the gate and walls 2 to 4", injected.g234),
  ];
  for (const [at, verdict] of walls.entries()) {
    const standing = NET_WALLS[at]!;
    if (standing === "1" || verdict === undefined) continue; // behind wall 1 alone stands a guest, not this code
    const seen = only(injected[standing], standing === "g" ? THROUGH : AROUND);
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
