import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { boundGrants, grantsWith } from "./arbitrary_fixture.ts";
import type { Grants } from "./grants.ts";
import { isInside } from "./paths.ts";
import { toFlags, toHull, toPermissions, toProcess } from "./walls.ts";

const PLACES = { cache: "/cache/k", tmp: "/tmp/t", work: "/sessions/s/work" };

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
        const { read, write, ...others } = toPermissions(grants, PLACES);
        const hull = toHull(grants, PLACES);
        const reaches = (list: readonly string[] | false) => list !== false && list.some((one) => isInside(path, one));
        const granted = hostsOf(grants, ["ro", "rw"]).some((host) => isInside(path, host));
        const writable = hostsOf(grants, ["rw"]).some((host) => isInside(path, host));
        assertEquals([reaches(read), reaches(write)], [granted, writable]);
        assertEquals([reaches([...hull.read, ...hull.write]), reaches(hull.write)], [granted, writable]);
        assertEquals(Object.values(others), [false, false, false, false, false, false]);
        assertEquals(hull.symlinks, hostsOf(grants, ["rw"]).length > 0);
        assert(
          hull.seccomp && !hull.unixSockets && hull.execute.length + hull.tcpBind.length + hull.tcpConnect.length === 0,
        );
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

Deno.test("toProcess: base and MiB of memory, headroom for descriptors and CPU, exact file size", () => {
  const limits = { memory_mb: 256, deadline_ms: 1, cpu_seconds: 5, open_files: 256, file_bytes: 7, work_bytes: 9 };
  assertEquals(toProcess(grantsWith({ limits })), {
    dataBytes: 1_150_000_000 + 256 * 1_048_576,
    cpuSeconds: 6,
    fileBytes: 7,
    openFiles: 384,
  });
  assertEquals(toProcess(grantsWith({})).cpuSeconds, undefined);
});
