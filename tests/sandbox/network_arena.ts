/**
 * Where an attempt on the network is made: boll started with grants for some places of a world, and what came to the
 * others.
 * @module
 */
import type { Bed } from "../harness.ts";
import { fixture, RunningBoll } from "../harness.ts";
import { RUNTIME } from "./arena.ts";
import type { NetAttempt, NetGuestRoute, NetInjectedRoute, NetWorld } from "./network_attempt.ts";
import { guestSource, injectedSource, type Marks, type NetProbe } from "./network_sources.ts";
import { type Arrivals, OpenWorld } from "./network_world.ts";

/** Which executable, and which of its walls stand (a variant only; `g` is the gate). */
export interface NetStage {
  readonly bed: Bed;
  readonly variant?: { readonly path: string; readonly walls: string };
}

/** Route → `"out"`, or what it saw instead. */
export type NetResults = Readonly<Record<string, string>>;

const SAFETY_NET_MS = 40_000;
/** What the routes of walls 2 to 4, and those of the gate, are called by. */
export const AROUND = "around.";
export const THROUGH = "through.";

/** Whether the tests may give a run a name server of their own: a mount namespace, and port 53. */
export const canNameServers: boolean = await tryNamespace();

async function tryNamespace(): Promise<boolean> {
  try {
    const mounting = ["-m", "/bin/sh", "-c", "mount --bind /etc/hosts /etc/resolv.conf"];
    if (!(await new Deno.Command("unshare", { args: mounting, stderr: "null", stdout: "null" }).output()).success) {
      return false;
    }
    Deno.listen({ hostname: "127.64.0.1", port: 53 }).close();
    return true;
  } catch (error) {
    return error instanceof Deno.errors.AddrInUse;
  }
}

/** Tries the guest's routes of all attempts, by both of its ways to the network: for each attempt what they saw. */
export async function tryNetGuest(stage: NetStage, attempts: readonly NetAttempt[]): Promise<NetResults[]> {
  const isGateUp = stage.variant === undefined || stage.variant.walls.includes("g");
  const http = attempts.map(({ http, httpBehindGate }) => ({ ...http, ...(isGateUp ? httpBehindGate : {}) }));
  const sockets = attempts.map(({ sockets }) => ({ ...sockets }));
  const [viaHttp, viaSockets] = await Promise.all([
    tryProbe(
      stage,
      attempts,
      "http_probe",
      http,
      ({ request }, { granted }, mark) => request(`http://127.0.0.1:${granted}/${mark}`),
    ),
    tryProbe(
      stage,
      attempts,
      "sockets_probe",
      sockets,
      ({ connect, ipv4, writeText }, { tcp }, mark) => writeText(connect(ipv4([127, 0, 0, 1], tcp)).output, mark),
    ),
  ]);
  return attempts.map((_, at) => ({ ...viaHttp[at], ...viaSockets[at] }));
}

async function tryProbe(
  stage: NetStage,
  attempts: readonly NetAttempt[],
  probe: NetProbe,
  own: readonly Readonly<Record<string, NetGuestRoute>>[],
  twin: NetGuestRoute,
): Promise<NetResults[]> {
  const prefix = probe.replace("probe", "");
  const routes = numbered(own.map((routes) => prefixed(prefix, routes)), { [`${prefix}twin`]: twin });
  const source = guestSource(probe, routes);
  return await observe(stage, attempts, probe, routes, (world, marks) => [source, JSON.stringify([world, marks])]);
}

/** Tries all routes that code in the guest's thread has: for each attempt what they saw. */
export async function tryNetInjected(stage: NetStage, attempts: readonly NetAttempt[]): Promise<NetResults[]> {
  const own = attempts.map(({ around, through, runtimeRefuses }) => ({
    ...prefixed(AROUND, around),
    ...prefixed(THROUGH, through),
    ...prefixed(RUNTIME, runtimeRefuses),
  }));
  const twin: NetInjectedRoute = ({ ask }, { granted }, mark) => ask(`http://127.0.0.1:${granted}/${mark}`);
  const routes = numbered(own, { twin });
  return await observe(stage, attempts, "http_probe", routes, (world, marks) => [injectedSource(routes, world, marks)]);
}

function prefixed<Route>(prefix: string, routes: Readonly<Record<string, Route>> = {}): Record<string, Route> {
  return Object.fromEntries(Object.entries(routes).map(([name, route]) => [prefix + name, route]));
}

/** Routes of many attempts as those of one, by the attempt's number; the twin is last, and everybody's. */
function numbered<Route>(own: readonly Readonly<Record<string, Route>>[], twin: Readonly<Record<string, Route>>) {
  return Object.assign({}, ...own.map((routes, at) => prefixed(`${at}:`, routes)), twin) as Record<string, Route>;
}

async function observe(
  stage: NetStage,
  attempts: readonly NetAttempt[],
  guest: string,
  routes: Readonly<Record<string, unknown>>,
  words: (world: NetWorld, marks: Marks) => string[],
): Promise<NetResults[]> {
  const outside = stage.bed.folder(crypto.randomUUID().slice(0, 8));
  const work = `${outside}/work`;
  Deno.mkdirSync(work);
  await using opened = await OpenWorld.open({ outside, work }, canNameServers);
  const { world } = opened;
  const marks = Object.fromEntries(Object.keys(routes).map((name) => [name, `m${crypto.randomUUID().slice(0, 13)}`]));
  const flags = ["--quiet", "--work", work, ...grantsOf(world).flatMap((entry) => ["--net", entry])];
  const command = ["run", await fixture(guest), ...flags, "--", ...words(world, marks)];
  const said = await start(stage, attempts[0]?.environment, command, world, work);
  const arrivals = await opened.settle();
  return attempts.map((attempt, at) => resultsOf(attempt, at, marks, said, arrivals));
}

/** What the routes of attempt `at` saw, and the twin. */
function resultsOf(attempt: NetAttempt, at: number, marks: Marks, said: NetResults, arrivals: Arrivals): NetResults {
  const isOut = attempt.isOut ?? isElsewhere;
  return Object.fromEntries(
    Object.entries(marks).flatMap(([name, mark]) => {
      const isTwin = name.endsWith("twin");
      if (!isTwin && !name.startsWith(`${at}:`)) return [];
      const out = isTwin
        ? `${arrivals.granted}${arrivals.tcp}`.includes(mark)
        : isOut(arrivals, mark) || said[name] === "true";
      return [[name.replace(/^[0-9]+:/, ""), out ? "out" : said[name] ?? "nothing"]];
    }),
  );
}

/** Any place but the granted ones. */
function isElsewhere(arrivals: Arrivals, mark: string): boolean {
  return Object.entries(arrivals).some(([place, text]) =>
    !["granted", "tcp", "names"].includes(place) && text.includes(mark)
  );
}

function grantsOf({ granted, tcp, tls, inside }: NetWorld): string[] {
  return [
    `http://127.0.0.1:${granted}`,
    `tcp://127.0.0.1:${tcp}`,
    `https://127.0.0.1:${tls}`,
    `http://*.granted.test:${inside}`,
  ];
}

async function start(
  { bed, variant }: NetStage,
  environment: NetAttempt["environment"],
  words: string[],
  world: NetWorld,
  work: string,
): Promise<NetResults> {
  const command = variant ? [variant.path, ...words] : bed.command(words);
  const resolver = `${work}/../resolv.conf`;
  const [program, ...args] = world.nameServer === undefined
    ? command
    : ["unshare", "-m", "/bin/sh", "-c", `mount --bind "$0" /etc/resolv.conf && exec "$@"`, resolver, ...command];
  if (world.nameServer !== undefined) Deno.writeTextFileSync(resolver, `nameserver ${world.nameServer}\n`);
  const walls = variant ? { BOLL_TEST_STANDING_WALLS: variant.walls } : {};
  const env = bed.environment({ ...environment?.(world), ...walls });
  const stdio = { stdin: "null", stdout: "piped", stderr: "piped" } as const;
  const child = new Deno.Command(program!, { args, cwd: work, clearEnv: true, env, ...stdio }).spawn();
  const run = await new RunningBoll(child, { safetyNetMs: SAFETY_NET_MS }).result();
  try {
    return JSON.parse(run.stdout.trimEnd().split("\n").at(-1) ?? "");
  } catch {
    throw new Error(`Read what an attempt saw: found no JSON (exit ${run.code})\n${run.stdout}\n${run.stderr}`);
  }
}
