/**
 * Tries attempts at every wall alone, with all and with none, and says where reality is not what the table says. One
 * run makes all attempts at the same walls.
 * @module
 */
import { type Bed } from "../harness.ts";
import { HOST, type Observation, PATIENT_ROUNDS, ROOT, RUNTIME, type Stage, tryAsGuest, tryInjected } from "./arena.ts";
import { type Escape, WALL_NAMES } from "./table.ts";

/** What escapes are tried against. */
export interface Grounds {
  readonly bed: Bed;
  /** The variant executable. */
  readonly variant: string;
  /** Everything is done by the user nobody, whose the bed is from then on. */
  readonly asNobody?: true;
  /** How often an attempt is made that depends on the moment, where a wall must hold it. */
  readonly rounds?: number;
}

/** How often names are swapped under an attempt that a wall must hold. */
export const MANY_ROUNDS = 10_000;

const GUEST_WALLS = ["product", "1"] as const;
const INJECTED_WALLS = ["", "234", "1", "2", "3", "4"] as const;

/** What one attempt saw, by the walls that stood. */
export interface Sighting {
  readonly isRoot: boolean;
  readonly guest: Readonly<Record<(typeof GUEST_WALLS)[number], Observation>>;
  readonly injected: Readonly<Record<(typeof INJECTED_WALLS)[number], Observation>>;
}

/** Makes every attempt at all walls. */
export async function tryEscapes(grounds: Grounds, escapes: readonly Escape[]): Promise<Map<Escape, Sighting>> {
  const isRoot = Deno.uid() === 0 && !grounds.asNobody;
  const seen = escapes.map(() => ({ isRoot, guest: {}, injected: {} })) as unknown as {
    guest: Record<string, Observation>;
    injected: Record<string, Observation>;
  }[];
  const attempts = escapes.map(({ attempt }) => attempt);
  for (const walls of GUEST_WALLS) {
    const observed = await tryAsGuest(stageOf(grounds, walls), attempts);
    observed.forEach((observation, at) => seen[at]!.guest[walls] = observation);
  }
  for (const walls of INJECTED_WALLS) {
    const observed = await tryInjected(stageOf(grounds, walls), attempts);
    observed.forEach((observation, at) => seen[at]!.injected[walls] = observation);
  }
  return new Map(escapes.map((escape, at) => [escape, seen[at] as unknown as Sighting]));
}

function stageOf({ variant: path, rounds, ...who }: Grounds, walls: string): Stage {
  // Where no wall holds such an attempt it ends with the first round that gets out.
  const isFree = ["", "2", "3"].includes(walls);
  const often = isFree ? { rounds: PATIENT_ROUNDS, isHeld: false } : rounds === undefined ? {} : { rounds };
  return { ...who, ...often, ...(walls === "product" ? {} : { variant: { path, walls } }) };
}

/** Every way in which an escape did not go as the table says; none is as it should be. */
export function judgeEscape(escape: Escape, seen: Sighting): string[] {
  const surprises = [...judgeGuest(escape, seen), ...judgeInjected(escape, seen)];
  return surprises.map((surprise) => `${escape.name}: ${surprise}`);
}

/** The guest's own routes, behind all walls and, on the variant, behind wall 1 alone. */
function judgeGuest({ walls, beyondWallOne }: Escape, { guest }: Sighting): string[] {
  const isHeld = walls[0].holds || beyondWallOne;
  return [
    ...mustHold("a guest behind all walls", guest.product),
    ...(isHeld ? mustHold : mustFail)("a guest behind wall 1 alone", guest["1"]),
    ...oddRefusals(guest["1"]),
  ];
}

/** The routes of code in the guest's thread: each must get out of nothing, and none out of everything. */
function judgeInjected(escape: Escape, { injected, isRoot }: Sighting): string[] {
  const isStopped = escape.walls.slice(1).some(({ holds }) => holds);
  const surprises = [
    ...mustGetOut("injected code without a wall", injected[""], isRoot),
    ...(isStopped ? mustHold : mustFail)("injected code behind walls 2 to 4", injected["234"]),
  ];
  for (const [at, verdict] of escape.walls.entries()) {
    if (at === 0 && !escape.beyondWallOne) continue; // behind wall 1 alone stands a guest, not this code
    const seen = injected[String(at + 1) as "1"];
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
    ...(out.length === 0 && seen.changed.length === 0 ? [`${who} was held, and the table says that it cannot be`] : []),
    ...impossible.map((name) => `${who} got out by ${name}`),
    ...twinWorks(who, seen),
  ];
}

/** Every route got out that this user, host and kernel have, so that none is refused for being wrong. */
function mustGetOut(who: string, seen: Observation, isRoot: boolean): string[] {
  const wanted = ([name, result]: [string, string]) =>
    !name.startsWith(RUNTIME) && !name.startsWith(HOST) && (isRoot || !name.startsWith(ROOT)) && result !== ABSENT;
  const held = Object.entries(seen.results).filter(wanted).filter(([, result]) => result !== "out");
  return [...held.map(([name, result]) => `${who} was held at ${name}: ${result}`), ...mustFail(who, seen)];
}

/** What `reaches` says of a call that the running kernel does not have. */
const ABSENT = "absent";

function twinWorks(who: string, { results }: Observation): string[] {
  return results.twin === "out" ? [] : [`${who} was refused the allowed twin: ${results.twin}`];
}

const REFUSALS = [
  ...["not-permitted", "read-only", "no-entry", "bad-descriptor", "not-directory"],
  ...["insufficient-memory", "file-too-large"], // limits
];

/** A guest's route is refused with a WASI code that says so, or else the route is wrong. */
function oddRefusals({ results }: Observation): string[] {
  const refusals = [...REFUSALS.map((code) => JSON.stringify(code)), "nothing", "out"];
  return Object.entries(results).filter(([, result]) => !refusals.includes(result)).map(([name, result]) =>
    `a guest behind wall 1 alone was refused ${name} with ${result}`
  );
}

/** Routes that could not be tried here even where no wall stands. */
export function untried({ injected: { "": { results } } }: Sighting): string[] {
  return Object.keys(results).filter((name) =>
    results[name] === ABSENT || (results[name] !== "out" && (name.startsWith(HOST) || name.startsWith(ROOT)))
  );
}
