import { assertEquals } from "@std/assert";
import { Bed } from "../harness.ts";
import { DelegatingWorkspace } from "../process/delegating_workspace.ts";
import { readHandedOver } from "../process/delegation_records.ts";
import { buildVariant, startBundler } from "./variant/build.ts";

await startBundler();

/** What came of a connection to each place. */
type Reached = Readonly<Record<string, string>>;

/** Code in the guest's thread that connects to each port, and to its own gate. */
const attack = (ports: Readonly<Record<string, number>>) =>
  `//injected
  const reached = {};
  for (const [name, port] of Object.entries({ ...${JSON.stringify(ports)}, gate: load.network.gate_port })) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      reached[name] = "reached";
    } catch (error) {
      reached[name] = error.name;
    }
  }
  return reached;`;

Deno.test("escape: the supervisor of a run that delegates leaves its TCP to the layers below, which hold: each session's own, and each cell's [binary]", async () => {
  const variant = await buildVariant();
  await using bed = new Bed("binary");
  const listeners = ["granted", "parents", "nobodys"].map((name) => {
    return [name, Deno.listen({ hostname: "127.0.0.1", port: 0 })] as const;
  });
  try {
    const ports = Object.fromEntries(listeners.map(([name, { addr }]) => [name, (addr as Deno.NetAddr).port]));
    const [granted, parents] = ["granted", "parents"].map((name) => `tcp://127.0.0.1:${ports[name]}`);
    const space = new DelegatingWorkspace(bed);
    const net = [granted, parents];
    await space.capsule("asker", { grants: { spawn: ["worker"], net } });
    await space.capsule("worker", { guest: "sockets_probe", grants: { net: [granted] }, source: attack(ports) });
    await space.lock();
    /** What code reaches in the cell of a run that may delegate, and in that of its child, behind these walls. */
    const tryBehind = async (walls: string): Promise<readonly [Reached, Reached]> => {
      const start = async (source: string) => {
        const command = [variant, ...space.command("asker", source)];
        const run = bed.startCommand(command, { env: { BOLL_TEST_STANDING_WALLS: walls } });
        const { code, stdout, stderr } = await run.result();
        assertEquals(code, 0, stderr);
        return JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
      };
      const own = await start(attack(ports));
      const told = readHandedOver(await start("waitFor(delegate())"));
      return [own, JSON.parse(told.result)];
    };
    const refused = "PermissionDenied";
    const all = { granted: "reached", parents: "reached", nobodys: "reached", gate: "reached" };
    assertEquals(await tryBehind("g"), [all, all]);
    // The layers of the processes above the cells: the supervisor's lets all through, the session's what its gate needs.
    assertEquals(await tryBehind("gs"), [all, { ...all, parents: refused, nobodys: refused }]);
    const none = { granted: refused, parents: refused, nobodys: refused, gate: "reached" };
    assertEquals(await tryBehind("gc"), [none, none]);
    assertEquals(await tryBehind("g4"), [none, none]);
  } finally {
    for (const [, listener] of listeners) listener.close();
  }
});
