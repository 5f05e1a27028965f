import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Bed } from "../harness.ts";
import { canNameServers, THROUGH, tryNetInjected } from "./network_arena.ts";
import { unlistedHost, unlistedPort } from "./network_attempts.ts";
import { judgeNetEscape } from "./network_judge.ts";
import { NET_ESCAPES, type NetEscape } from "./network_table.ts";
import { buildVariant, startBundler } from "./variant/build.ts";

await startBundler();

let bed: Bed;
let variant: string;

Deno.test.beforeAll(async () => {
  variant = await buildVariant();
  bed = new Bed("binary");
});
Deno.test.afterAll(async () => await bed?.[Symbol.asyncDispose]());

for (const escape of NET_ESCAPES) {
  Deno.test({
    name: `escape: ${escape.name}: the gate and each wall alone do what the table says [binary]`,
    ignore: escape.attempt.needsNames === true && !canNameServers,
    fn: async () => assertEquals(await judgeNetEscape({ bed, variant }, escape), []),
  });
}

Deno.test("escape: the gate's own process reaches the ports of its entries alone, were the gate to let all pass [binary]", async () => {
  const out = async (walls: string) => {
    const stage = { bed, variant: { path: variant, walls } };
    const results = { ...await tryNetInjected(stage, unlistedHost), ...await tryNetInjected(stage, unlistedPort) };
    const { [`${THROUGH}ask`]: port, [`${THROUGH}tunnelForTls`]: host, twin } = results;
    return [port === "out", host === "out", twin === "out"];
  };
  assertEquals(await out(""), [true, true, true]);
  assertEquals(await out("s"), [false, true, true]);
});

Deno.test("escape: a table of the network that says anything else is found out [binary]", async () => {
  const judge = (name: string, at: number, holds: boolean) => {
    const escape = NET_ESCAPES.find((escape) => escape.name === name)!;
    const walls = escape.walls.map((wall, other) => (other === at ? { ...wall!, holds } : wall));
    return judgeNetEscape({ bed, variant }, { ...escape, walls: walls as unknown as NetEscape["walls"] });
  };
  assertStringIncludes((await judge("datagrams", 4, false)).join(), "behind 4 kernel alone was held");
  assertStringIncludes(
    (await judge("a `Host` that lies", 2, true)).join(),
    "behind 2 permissions alone got out: around",
  );
});

Deno.test("escape: every attempt on the network is stopped by two at least", () => {
  for (const { name, walls } of NET_ESCAPES) assert(walls.filter((wall) => wall?.holds).length >= 2, name);
});
