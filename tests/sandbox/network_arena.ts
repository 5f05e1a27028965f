/**
 * Where an attempt on the network is made: boll started with grants for some places of a world, and what came to the
 * others.
 * @module
 */
import type { Bed } from "../harness.ts";
import { fixture, RunningBoll } from "../harness.ts";
import { LIBC, RUNTIME } from "./arena.ts";
import type { NetAttempt, NetGuestRoute, NetInjectedRoute, NetWorld } from "./network_attempt.ts";
import { OpenWorld } from "./network_world.ts";

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

/** Tries the guest's routes of an attempt, by both of its ways to the network. */
export async function tryNetGuest(stage: NetStage, attempt: NetAttempt): Promise<NetResults> {
  const [http, sockets] = await Promise.all([
    tryProbe(
      stage,
      attempt,
      "http_probe",
      httpRoutes(stage, attempt),
      ({ request }, { granted }, mark) => request(`http://127.0.0.1:${granted}/${mark}`),
    ),
    tryProbe(
      stage,
      attempt,
      "sockets_probe",
      attempt.sockets,
      ({ connect, ipv4, writeText }, { tcp }, mark) => writeText(connect(ipv4([127, 0, 0, 1], tcp)).output, mark),
    ),
  ]);
  return { ...http, ...sockets };
}

function httpRoutes({ variant }: NetStage, { http, httpBehindGate = {} }: NetAttempt) {
  return http && (variant === undefined || variant.walls.includes("g")) ? { ...http, ...httpBehindGate } : http;
}

async function tryProbe(
  stage: NetStage,
  attempt: NetAttempt,
  probe: string,
  own: Readonly<Record<string, NetGuestRoute>> | undefined,
  twin: NetGuestRoute,
): Promise<NetResults> {
  if (own === undefined) return {};
  const prefix = probe.replace("probe", "");
  const routes = { ...prefixed(prefix, own), [`${prefix}twin`]: twin };
  const names = probe === "http_probe"
    ? "request, send"
    : "connect, ipv4, lookUp, writeText, datagrams, sendText, listen";
  return await observe(stage, attempt, probe, routes, (world, marks) => [
    `const send = ({ authority, path = "/", method }) => {
      const asked = makeRequest("http://x/");
      if (method !== undefined) asked.setMethod({ tag: "other", val: method });
      asked.setAuthority(authority);
      asked.setPathWithQuery(path);
      return readResponse(receive(handler.handle(asked, undefined)));
    };
    const guest = { ${names} };
    const [world, marks] = JSON.parse(args[0]);
    const judge = (route, name) => {
      try {
        const { ok, err } = attempt(() => route(guest, world, marks[name]));
        return err === undefined ? ok === true ? "true" : "ok" : JSON.stringify(err);
      } catch (error) {
        return error instanceof Error && "payload" in error ? "invalid" : String(error);
      }
    };
    return Object.fromEntries(Object.entries(${sources(routes)}).map(([name, route]) => [name, judge(route, name)]));`,
    JSON.stringify([world, marks]),
  ]);
}

/** Tries all routes that code in the guest's thread has. */
export async function tryNetInjected(stage: NetStage, attempt: NetAttempt): Promise<NetResults> {
  const routes: Record<string, NetInjectedRoute> = {
    ...prefixed(AROUND, attempt.around),
    ...prefixed(THROUGH, attempt.through),
    ...prefixed(RUNTIME, attempt.runtimeRefuses),
    twin: ({ ask }, { granted }, mark) => ask(`http://127.0.0.1:${granted}/${mark}`),
  };
  return await observe(stage, attempt, "http_probe", routes, (world, marks) => [
    `//injected
    const [world, marks] = ${JSON.stringify([world, marks])};
    ${LIBC}
    const { gate_port, credential } = load.network;
    const gate = { port: gate_port, authorization: "Basic " + btoa(credential) };
    ${talk.toString()}
    const tunnel = (scheme, authority, text) => talk(gate.port, "CONNECT " + authority + " HTTP/1.1\\r\\nHost: " + authority +
      "\\r\\nProxy-Authorization: " + gate.authorization + "\\r\\nx-boll-scheme: " + scheme + "\\r\\n\\r\\n", text);
    const ask = (url) => talk(gate.port, "GET " + url + " HTTP/1.1\\r\\nHost: " + new URL(url).host +
      "\\r\\nProxy-Authorization: " + gate.authorization + "\\r\\n\\r\\n");
    const tools = { libc, operations, gate, talk, tunnel, ask, resolveName: (name) => ports.resolve(name) };
    const seen = {};
    for (const [name, route] of Object.entries(${sources(routes)})) {
      try { seen[name] = String(await route(tools, world, marks[name])).split("\\r\\n")[0].slice(0, 200); }
      catch (error) { seen[name] = String(error).split("\\n")[0].slice(0, 200); }
    }
    return seen;`,
  ]);
}

/** Its text is sent with the routes. */
async function talk(place: number | Deno.ConnectOptions, ...texts: string[]): Promise<string> {
  using wire = await Deno.connect(typeof place === "number" ? { port: place, hostname: "127.0.0.1" } : place);
  const buffer = new Uint8Array(65_536);
  let heard = "";
  for (const text of texts) {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    for (let at = 0; at < bytes.length;) at += await wire.write(bytes.subarray(at));
    const count = text === "" ? 0 : await wire.read(buffer);
    if (count === null) break;
    heard += String.fromCharCode(...buffer.subarray(0, count));
  }
  return heard;
}

function prefixed<Route>(prefix: string, routes: Readonly<Record<string, Route>> = {}): Record<string, Route> {
  return Object.fromEntries(Object.entries(routes).map(([name, route]) => [prefix + name, route]));
}

function sources(routes: Readonly<Record<string, NetGuestRoute | NetInjectedRoute>>): string {
  return `{ ${Object.entries(routes).map(([name, route]) => `"${name}": ${route.toString()}`).join(",\n")} }`;
}

async function observe(
  stage: NetStage,
  attempt: NetAttempt,
  guest: string,
  routes: Readonly<Record<string, unknown>>,
  words: (world: NetWorld, marks: Record<string, string>) => string[],
): Promise<NetResults> {
  const outside = stage.bed.folder(crypto.randomUUID().slice(0, 8), { "resolv.conf": "" });
  const work = `${outside}/work`;
  Deno.mkdirSync(work);
  await using opened = await OpenWorld.open({ outside, work }, canNameServers && attempt.needsNames === true);
  const { world } = opened;
  const marks = Object.fromEntries(Object.keys(routes).map((name) => [name, `m${crypto.randomUUID().slice(0, 13)}`]));
  const flags = ["--quiet", "--work", work, ...grantsOf(world).flatMap((entry) => ["--net", entry])];
  const said = await start(
    stage,
    attempt,
    ["run", await fixture(guest), ...flags, "--", ...words(world, marks)],
    world,
    work,
  );
  const arrivals = await opened.settle();
  const isOut = attempt.isOut ?? isElsewhere;
  return Object.fromEntries(
    Object.entries(marks).map(([name, mark]) => {
      const out = name.endsWith("twin")
        ? `${arrivals.granted}${arrivals.tcp}`.includes(mark)
        : isOut(arrivals, mark) || said[name] === "true";
      return [name, out ? "out" : said[name] ?? "nothing"];
    }),
  );
}

/** Any place but the granted ones. */
function isElsewhere(arrivals: Readonly<Record<string, string>>, mark: string): boolean {
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
  attempt: NetAttempt,
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
  const env = bed.environment({ ...attempt.environment?.(world), ...walls });
  const stdio = { stdin: "null", stdout: "piped", stderr: "piped" } as const;
  const child = new Deno.Command(program!, { args, cwd: work, clearEnv: true, env, ...stdio }).spawn();
  const run = await new RunningBoll(child, { safetyNetMs: SAFETY_NET_MS }).result();
  try {
    return JSON.parse(run.stdout.trimEnd().split("\n").at(-1) ?? "");
  } catch {
    throw new Error(`Read what an attempt saw: found no JSON (exit ${run.code})\n${run.stdout}\n${run.stderr}`);
  }
}
