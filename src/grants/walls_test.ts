import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { boundGrants, grantsWith } from "./arbitrary_fixture.ts";
import type { Grants } from "./grants.ts";
import { gatePorts, listenPorts } from "./net_walls.ts";
import { isInside } from "./paths.ts";
import { toFlags, toHull, toPermissions, toProcess } from "./walls.ts";

const PLACES = { cache: "/cache/k", tmp: "/tmp/t", work: "/sessions/s/work", gatePort: 40_000 };

function hostsOf(grants: Grants, modes: readonly string[]): string[] {
  const hosts = grants.fs.mounts.filter(({ mode }) => modes.includes(mode)).map(({ host }) => host!);
  return grants.fs.work !== undefined && modes.includes(grants.fs.work) ? [...hosts, PLACES.work] : hosts;
}

Deno.test("toPermissions, toHull: reach exactly what is granted, and write only what is rw", () => {
  fc.assert(
    fc.property(
      boundGrants,
      fc.constantFrom("/h/a/x", "/h/ab", "/i/y", "/etc", "/cache", PLACES.work),
      (grants, path) => {
        const { read, write, net: _, ...others } = toPermissions(grants, PLACES);
        const hull = toHull(grants, PLACES);
        const reaches = (list: readonly string[] | false) => list !== false && list.some((one) => isInside(path, one));
        const granted = hostsOf(grants, ["ro", "rw"]).some((host) => isInside(path, host));
        const writable = hostsOf(grants, ["rw"]).some((host) => isInside(path, host));
        assertEquals([reaches(read), reaches(write)], [granted, writable]);
        assertEquals([reaches([...hull.read, ...hull.write]), reaches(hull.write)], [granted, writable]);
        assertEquals(Object.values(others), [false, false, false, false, false]);
        assertEquals(hull.symlinks, hostsOf(grants, ["rw"]).length > 0);
        assert(hull.seccomp && !hull.unixSockets && hull.execute.length === 0);
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("toPermissions: nothing granted is false, never an empty list; an unbound mount is a programmer's mistake", () => {
  assertEquals([toPermissions(grantsWith({}), PLACES).read, toPermissions(grantsWith({}), PLACES).write], [
    false,
    false,
  ]);
  assertEquals(toHull(grantsWith({}), PLACES).read, ["/cache/k"]);
  assertThrows(() => toHull(grantsWith({ fs: { mounts: [{ guest: "/a", mode: "ro" }] } }), PLACES), TypeError);
  assertThrows(() => toHull(grantsWith({ fs: { work: "ro", mounts: [] } }), { cache: "/c" }), TypeError);
});

Deno.test("toFlags: lists for a cell without a writable place, unscoped read and write with one, commas doubled", () => {
  const rest = { sources: ["/src"], env: ["TMPDIR"] };
  const ro = grantsWith({ fs: { mounts: [{ guest: "/a", mode: "ro", host: "/h/a,b" }] } });
  assertEquals(toFlags({ kind: "cell", grants: ro, places: PLACES, ...rest }), [
    "--allow-read=/src,/cache/k,/tmp/t,/h/a,,b",
    "--allow-write=/tmp/t",
    "--allow-env=TMPDIR",
  ]);
  const rw = grantsWith({ fs: { work: "rw", mounts: [] } });
  assertEquals(toFlags({ kind: "cell", grants: rw, places: PLACES, ...rest }), [
    "--allow-read",
    "--allow-write",
    "--allow-env=TMPDIR",
  ]);
  assertEquals(toFlags({ kind: "build", component: "/c.wasm", staging: "/b", tmp: "/t", sources: [], env: [] }), [
    "--allow-read=/c.wasm,/b,/t",
    "--allow-write=/b,/t",
  ]);
});

Deno.test("toProcess: base, what is held for the guest and MiB of memory, headroom for descriptors and CPU, exact file size", () => {
  const limits = { memory_mb: 256, deadline_ms: 1, cpu_seconds: 5, open_files: 256, file_bytes: 7, work_bytes: 9 };
  assertEquals(toProcess(grantsWith({ limits }), "own"), {
    dataBytes: 1_150_000_000 + 256 * 1_048_576 + 256 * 1_048_576,
    cpuSeconds: 6,
    fileBytes: 7,
    openFiles: 384,
  });
  assertEquals(toProcess(grantsWith({}), "own").cpuSeconds, undefined);
  const isolate = toProcess(grantsWith({}), "own").dataBytes! - toProcess(grantsWith({}), "main").dataBytes!;
  assertEquals(isolate, 550_000_000 + 256 * 1_048_576);
});

Deno.test("toPermissions, toHull, toFlags: without network entries nothing, though there is a gate", () => {
  const none = grantsWith({});
  assertEquals(toPermissions(none, PLACES).net, false);
  const { tcpConnect, tcpBind, udp } = toHull(none, PLACES);
  assertEquals([tcpConnect, tcpBind, udp], [[], [], false]);
  const flags = toFlags({ kind: "cell", grants: none, places: PLACES, sources: [], env: [] });
  assert(!flags.some((flag) => flag.startsWith("--allow-net")));
});

Deno.test("toPermissions, toHull, toFlags: the gate and each entry in the runtime's words; the kernel sees ports", () => {
  const table: readonly (readonly [net: string, list: string[], binds: number[], udp: boolean])[] = [
    ["https://*.example.com", ["*.example.com:443"], [], false],
    ["http://[::1]:8080", ["[::1]:8080"], [], false],
    ["tcp://cache.example.com:6379", [], [], false],
    ["udp://192.0.2.1:53", ["192.0.2.1:53", "0.0.0.0:0", "[::]:0"], [], true],
    ["listen:8080", ["127.0.0.1:8080", "[::1]:8080"], [8080], false],
  ];
  for (const [entry, list, binds, hasUdp] of table) {
    const grants = grantsWith({ net: [entry] });
    const wanted = ["127.0.0.1:40000", ...list];
    assertEquals(toPermissions(grants, PLACES).net, wanted, entry);
    const { tcpConnect, tcpBind, udp } = toHull(grants, PLACES);
    assertEquals([tcpConnect, tcpBind, udp], [[40_000], binds, hasUdp], entry);
    for (const work of [undefined, "rw"] as const) {
      const fs = { mounts: [], ...(work === undefined ? {} : { work }) };
      const flags = toFlags({ kind: "cell", grants: { ...grants, fs }, places: PLACES, sources: [], env: [] });
      assert(flags.includes(`--allow-net=${wanted.join(",")}`), flags.join(" "));
    }
  }
  const named = { ...PLACES, udpPeers: ["198.51.100.7:53"] };
  assert(
    (toPermissions(grantsWith({ net: ["udp://dns.example:53"] }), named).net as string[]).includes("198.51.100.7:53"),
  );
});

Deno.test("toPermissions, toHull: entries that need a gate and have none are a programmer's mistake", () => {
  const { cache, tmp } = PLACES;
  for (const entry of ["https://a.b", "http://a.b", "tcp://a.b:1"]) {
    assertThrows(() => toPermissions(grantsWith({ net: [entry] }), {}), TypeError);
    assertThrows(() => toHull(grantsWith({ net: [entry] }), { cache }), TypeError);
  }
  const listens = grantsWith({ net: ["listen:8080"] });
  assertEquals(toPermissions(listens, {}).net, ["127.0.0.1:8080", "[::1]:8080"]);
  assertEquals(toHull(listens, { cache }).tcpConnect, []);
  assert(toFlags({ kind: "cell", grants: listens, places: { cache, tmp }, sources: [], env: [] }).length > 0);
});

Deno.test("gatePorts: the ports of what goes through the gate, of the proxy and of DNS; listenPorts: those to listen on", () => {
  const net = ["https://*.a.b", "https://c.d", "listen:8080", "tcp://e:6379", "udp://192.0.2.1:5353"];
  assertEquals(gatePorts({ net }), [53, 443, 6379]);
  assertEquals(gatePorts({ net }, { port: 3128 }), [53, 3128]);
  const loopback = [
    "http://localhost:1",
    "http://127.1.2.3:2",
    "http://[::1]:3",
    "http://10.0.0.1:4",
    "http://127.a:5",
  ];
  assertEquals(gatePorts({ net: loopback }, { port: 3128 }), [1, 2, 3, 53, 3128]);
  assertEquals([gatePorts({ net: ["listen:1", "udp://a:2"] }, { port: 3128 }), gatePorts({ net: [] })], [[], []]);
  assertEquals([listenPorts({ net }), listenPorts({ net: ["tcp://e:6379"] })], [[8080], []]);
});
