import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Bed } from "../harness.ts";
import { THROUGH, tryNetGuest, tryNetInjected } from "./network_arena.ts";
import { unlistedHost, unlistedPort } from "./network_attempts.ts";
import { canTry, judgeNetEscape, tryNetEscapes } from "./network_judge.ts";
import { NET_ESCAPES, type NetEscape } from "./network_table.ts";
import { buildVariant, startBundler } from "./variant/build.ts";

await startBundler();

let bed: Bed;
let variant: string;
let sightings: Awaited<ReturnType<typeof tryNetEscapes>>;

Deno.test.beforeAll(async () => {
  variant = await buildVariant();
  bed = new Bed("binary");
  sightings = await tryNetEscapes({ bed, variant }, NET_ESCAPES);
});
Deno.test.afterAll(async () => await bed?.[Symbol.asyncDispose]());

for (const escape of NET_ESCAPES) {
  Deno.test({
    name: `escape: ${escape.name}: the gate and each wall alone do what the table says [binary]`,
    ignore: !canTry(escape), // a name server of one's own takes root
    fn: () => assertEquals(judgeNetEscape(escape, sightings.get(escape)!), []),
  });
}

Deno.test("escape: the gate's own process reaches the ports of its entries alone, were the gate to let all pass [binary]", async () => {
  const out = async (walls: string) => {
    const stage = { bed, variant: { path: variant, walls } };
    const [host, port] = await tryNetInjected(stage, [unlistedHost, unlistedPort]);
    return [port, host].map((results) => [results?.[`${THROUGH}ask`] === "out", results?.twin]);
  };
  assertEquals(await out(""), [[true, "out"], [true, "out"]]);
  assertEquals(await out("s"), [[false, "out"], [true, "out"]]);
});

Deno.test("escape: from source a guest gets out by no route to the network, and every allowed twin works", async () => {
  await using bed = new Bed("source");
  const escapes = NET_ESCAPES.filter((escape) => canTry(escape) && escape.attempt.environment === undefined);
  const seen = await tryNetGuest({ bed }, escapes.map(({ attempt }) => attempt));
  for (const [at, { http_twin, sockets_twin, ...routes }] of seen.entries()) {
    assertEquals([http_twin, sockets_twin], ["out", "out"]);
    assertEquals(Object.keys(routes).filter((route) => routes[route] === "out"), [], escapes[at]!.name);
  }
});

Deno.test("escape: a table of the network that says anything else is found out [binary]", () => {
  const judge = (name: string, at: number, holds: boolean) => {
    const escape = NET_ESCAPES.find((escape) => escape.name === name)!;
    const walls = escape.walls.map((wall, other) => (other === at ? { ...wall!, holds } : wall));
    return judgeNetEscape({ ...escape, walls: walls as unknown as NetEscape["walls"] }, sightings.get(escape)!).join();
  };
  assertStringIncludes(judge("datagrams", 4, false), "behind 4 kernel alone was held");
  assertStringIncludes(judge("a `Host` that lies", 2, true), "behind 2 permissions alone got out: around");
  assertStringIncludes(judge("a host that no entry names", 1, false), "behind gate alone was held");
  assertStringIncludes(judge("a port that no entry names", 0, false), "a guest behind wall 1 alone was held");
});

Deno.test("escape: every attempt on the network is stopped by two at least", () => {
  for (const { name, walls } of NET_ESCAPES) assert(walls.filter((wall) => wall?.holds).length >= 2, name);
});
