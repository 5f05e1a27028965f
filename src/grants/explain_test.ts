import { assert, assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { grantsWith } from "./arbitrary_fixture.ts";
import { achievedContainment, checkFloor } from "./containment.ts";
import { explainGrants, type ExplainGrantsInput } from "./explain.ts";

const STRONG = { os: "linux", arch: "x86_64", landlockAbi: 3, seccomp: true, reasons: [] };
const COMPILED = { compiled: true, net: [] };

Deno.test("achievedContainment: scoped needs Linux, Landlock ABI 3, seccomp and the executable; each lack is named", () => {
  assertEquals(achievedContainment(STRONG, COMPILED), { achieved: "scoped", reasons: [] });
  const weak = [
    achievedContainment(STRONG, { compiled: false, net: [] }),
    achievedContainment({ ...STRONG, landlockAbi: 2 }, COMPILED),
    achievedContainment({ ...STRONG, landlockAbi: 0 }, COMPILED),
    achievedContainment({ ...STRONG, seccomp: false }, COMPILED),
    achievedContainment({ ...STRONG, os: "darwin", landlockAbi: 0, seccomp: false }, COMPILED),
  ];
  for (const result of weak) assertEquals([result.achieved, result.reasons.length], ["advisory", 1]);
});

Deno.test("achievedContainment: any network needs Landlock ABI 4, and a udp entry is advisory on every host", () => {
  const reach = (landlockAbi: number, ...net: string[]) =>
    achievedContainment({ ...STRONG, landlockAbi }, { compiled: true, net });
  for (const entry of ["https://a.b", "tcp://a.b:1", "listen:1"]) {
    assertEquals([reach(4, entry).achieved, reach(3, entry).achieved], ["scoped", "advisory"], entry);
  }
  assertEquals(reach(3, "https://a.b").reasons, ["Landlock: found ABI 3, wanted ABI 4 or later to bind the network"]);
  assertEquals(reach(7, "https://a.b", "udp://192.0.2.1:53"), {
    achieved: "advisory",
    reasons: ["A udp:// entry is granted: no wall stands below the host's own check"],
  });
});

Deno.test("checkFloor: a floor that cannot be met is refused, any other passes", () => {
  const weak = achievedContainment(STRONG, { compiled: false, net: [] });
  checkFloor(grantsWith({}), weak);
  checkFloor(grantsWith({ containment: "advisory" }), weak);
  checkFloor(grantsWith({ containment: "scoped" }), achievedContainment(STRONG, COMPILED));
  const error = assertThrows(() => checkFloor(grantsWith({ containment: "scoped" }), weak), CapsuleError);
  assertEquals([error.code, error.exitStatus], ["grant.floor_unmet", 5]);
});

const INPUT: ExplainGrantsInput = {
  capsule: { kind: "bare", root: "/c", name: "a", componentPath: "/c/a.wasm" },
  digest: `sha256:${"0".repeat(64)}`,
  resolved: {
    grants: grantsWith({
      fs: { work: "rw", mounts: [{ guest: "/data", mode: "ro", host: "/docs" }] },
      env: ["LANG"],
      containment: "scoped",
    }),
    envValues: { LANG: "hidden-value" },
    warnings: ["A warning"],
    unbound: [],
  },
  probe: STRONG,
  compiled: true,
  own: false,
  accepted: false,
};

Deno.test("explainGrants: JSON-safe, without values of variables; all four walls say what they bind and what not", () => {
  const explanation = explainGrants(INPUT);
  const json = JSON.stringify(explanation);
  assertEquals(JSON.parse(json), explanation);
  assert(!json.includes("hidden-value"));
  assertEquals(explanation.walls.map(({ wall, up }) => [wall, up]), [[1, true], [2, true], [3, true], [4, true]]);
  for (const wall of explanation.walls) assert(wall.binds.length > 0 && wall.does_not_bind.length > 0);
  assert(explanation.walls[3]!.binds.some((line) => line.includes("/docs")));
  assertEquals([explanation.containment.met, explanation.unused, explanation.missing], [true, undefined, []]);
});

Deno.test("explainGrants: under deno run the kernel wall is down, says why, and the floor is not met", () => {
  const { walls, containment } = explainGrants({ ...INPUT, compiled: false });
  assertEquals([walls[3]!.up, walls[3]!.binds, containment.achieved, containment.met], [false, [], "advisory", false]);
  assert(containment.reasons[0]!.includes("deno run") && walls[3]!.does_not_bind.length > 0);
});

Deno.test("explainGrants: imported and not granted, granted and never imported", () => {
  const imports = ["wasi:cli/stdout@0.2.0", "wasi:http/outgoing-handler@0.2.0", "wasi:filesystem/types@0.2.0"];
  const explanation = explainGrants({ ...INPUT, imports });
  assertEquals(explanation.missing.map(({ grant }) => grant), ["net"]);
  assertEquals(explanation.unused, ["clocks", "random", "env", "fs.work", "fs.mounts /data"]);
  const used = ["wasi:clocks/wall-clock", "wasi:random/random", "wasi:cli/environment", "wasi:filesystem/preopens"];
  assertEquals(explainGrants({ ...INPUT, imports: [...imports, ...used] }).unused, []);
});

Deno.test("explainGrants: delegation at wall 1 by name, at no other; unused when its interface is never imported", () => {
  const explain = (spawn: string[], ...imports: string[]) => {
    const grants = grantsWith({ spawn });
    return explainGrants({ ...INPUT, imports, resolved: { ...INPUT.resolved, grants } });
  };
  const host = "boll:capsule/host@0.1.0";
  const [none, some] = [explain([], host), explain(["reader", "worker"], host)];
  const [imports, ...others] = some.walls;
  assert(imports!.binds.includes("Delegation: only to reader, worker, as boll.lock has them"));
  assert(imports!.binds[0]!.includes("boll:capsule/host") && imports!.does_not_bind.join().includes("delegates to"));
  assert(none.walls[0]!.binds.includes("Delegation: none") && !JSON.stringify(none.walls).includes("boll:capsule"));
  // A capsule is started by the supervisor: the guest's own process gets no right of any kind for it.
  assertEquals(others, none.walls.slice(1));
  assertEquals([none.missing.map(({ grant }) => grant), some.missing], [["spawn"], []]);
  const unused = (one: typeof some) => one.unused?.filter((name) => name.startsWith("spawn"));
  assertEquals(unused(some), []);
  assertEquals(unused(explain(["reader", "worker"])), ["spawn reader", "spawn worker"]);
});

Deno.test("explainGrants: standing and consent", () => {
  const capsule = { ...INPUT.capsule, kind: "manifest" as const, manifestPath: "/c/capsule.jsonc" };
  const of = (fields: Partial<ExplainGrantsInput>) => {
    const { standing, consent } = explainGrants({ ...INPUT, ...fields });
    return `${standing} ${consent}`;
  };
  assertEquals(
    [of({}), of({ capsule }), of({ capsule, accepted: true }), of({ capsule, own: true })],
    ["bare not_needed", "foreign missing", "foreign stored", "own not_needed"],
  );
});

Deno.test("explainGrants: the network at each wall, and what each does not bind", () => {
  const withNet = (net: string[], landlockAbi = 7) => {
    const { grants } = INPUT.resolved;
    const input = {
      ...INPUT,
      probe: { ...STRONG, landlockAbi },
      resolved: { ...INPUT.resolved, grants: { ...grants, net } },
    };
    const { walls, containment } = explainGrants(input);
    return {
      binds: walls.map((wall) => wall.binds.join("\n")),
      not: walls.map((wall) => wall.does_not_bind.join("\n")),
      walls,
      containment,
    };
  };
  const none = withNet([]);
  assert(none.binds[0]!.includes("Network: none") && none.binds[1]!.includes("Network: nothing"));
  assert(none.binds[3]!.includes("no new sockets") && !none.binds[3]!.includes("TCP"));
  const https = withNet(["https://*.example.com", "listen:8080"]);
  assert(https.binds[0]!.includes("Network: only https://*.example.com; listening on 127.0.0.1, only port 8080"));
  assert(https.binds[1]!.includes("Network: the gate on this machine, *.example.com:443, 127.0.0.1:8080"));
  assert(https.not[1]!.includes("A wildcard's own name"));
  assert(
    https.binds[3]!.includes("TCP: connecting only to the gate's port on this machine, listening only on port 8080"),
  );
  assert(https.binds[3]!.includes("no sockets but TCP"));
  assertEquals([https.containment.achieved, https.containment.met], ["scoped", true]);
  const upstream = { proxy: { host: "proxy.local", port: 3128 }, ca: "/p/ca.pem" };
  const resolved = { ...INPUT.resolved, grants: grantsWith({ net: ["https://a.b"] }) };
  const proxied = explainGrants({ ...INPUT, resolved, upstream }).walls[0]!.binds.join();
  assert(proxied.includes("through the proxy proxy.local, port 3128") && proxied.includes("/p/ca.pem"));
  assert(!https.binds[0]!.includes("proxy"));
  const udp = withNet(["udp://192.0.2.1:53"]);
  assert(
    udp.walls[3]!.up && udp.not[3]!.includes("UDP, to whatever address"),
    "the wall stands, and says what it lets by",
  );
  assertEquals([udp.containment.achieved, udp.containment.met], ["advisory", false]);
  const old = withNet(["https://a.b"], 3);
  assert(old.not[3]!.includes("Landlock binds ports from ABI 4 on") && !old.binds[3]!.includes("Landlock, TCP"));
  assertEquals(old.containment.achieved, "advisory");
});

Deno.test("explainGrants: network entries whose interfaces are never imported are unused", () => {
  const net = ["https://a.b", "listen:1", "tcp://a.b:1"];
  const grants = grantsWith({ net, stdio: false, clocks: false, random: false });
  const unused = (...imports: string[]) =>
    explainGrants({ ...INPUT, imports, resolved: { ...INPUT.resolved, grants } }).unused;
  assertEquals(unused(), ["net https://a.b", "net listen:1", "net tcp://a.b:1"]);
  assertEquals(unused("wasi:http/outgoing-handler@0.2.0"), ["net listen:1", "net tcp://a.b:1"]);
  assertEquals(unused("wasi:sockets/tcp@0.2.0"), ["net https://a.b"]);
});
