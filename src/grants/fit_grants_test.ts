import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { DeclaredGrants } from "../manifest/mod.ts";
import { anyGrants, boundGrants, grantsWith } from "./arbitrary_fixture.ts";
import { fitGrants, type FitGrantsInput } from "./fit_grants.ts";
import type { Grants } from "./grants.ts";
import { assertInside } from "./inside_fixture.ts";
import { narrow } from "./narrow.ts";
import { isInside } from "./paths.ts";

/** A manifest that asks for all of these grants; its hosts are somebody's wish. */
function declare({ fs, env, net, spawn, ...rest }: Grants): DeclaredGrants {
  return { ...rest, env: [...env], net: [...net], spawn: [...spawn], fs: { ...fs, mounts: [...fs.mounts] } };
}

/** The same without hosts: what narrowing binds to its ceiling's. */
const unbound = (grants: Grants): Grants => ({
  ...grants,
  fs: { ...grants.fs, mounts: grants.fs.mounts.map(({ guest, mode }) => ({ guest, mode })) },
});

/** A limit without a default that the child does not write is its parent's. */
function withOptionalLimits(child: Grants, { limits: { cpu_seconds, output_bytes } }: Grants): Grants {
  const inherited = {
    ...(cpu_seconds === undefined ? {} : { cpu_seconds }),
    ...(output_bytes === undefined ? {} : { output_bytes }),
  };
  return { ...child, limits: { ...inherited, ...child.limits } };
}

/** Whether a read-only mount could be written through another one. */
const hasAlias = ({ fs: { mounts } }: Grants) =>
  mounts.some((ro) => ro.mode === "ro" && mounts.some((rw) => rw.mode === "rw" && isInside(ro.host!, rw.host!)));

const names = (input: FitGrantsInput) => {
  const fitted = fitGrants(input);
  return "misfits" in fitted ? fitted.misfits.map(({ axis, entry }) => `${axis} ${entry}`) : [];
};

function fits(input: FitGrantsInput): Grants {
  const fitted = fitGrants(input);
  assert("grants" in fitted, JSON.stringify(fitted));
  return fitted.grants;
}

Deno.test("fitGrants: fits exactly when narrowing drops nothing, and is then inside the parent and what narrowing gives", () => {
  const seen = { fits: 0, misfits: 0 };
  const axis = fc.constantFrom("fs", "env", "net", "spawn", "stdio", "clocks", "random", "limits", "containment");
  fc.assert(
    fc.property(anyGrants, boundGrants, axis, fc.boolean(), (asked, parent, exchanged, isExchanged) => {
      // Two grants drawn apart almost never fit; what narrowing left of them does, until one axis is as it was asked.
      const left = narrow(unbound(asked), parent).grants;
      const child = isExchanged ? { ...left, [exchanged]: asked[exchanged as keyof Grants] } : left;
      const { grants, dropped } = narrow(unbound(withOptionalLimits(child, parent)), parent);
      const fitted = fitGrants({ declared: declare(child), parent });
      assertEquals("grants" in fitted, dropped.length === 0 && !hasAlias(grants));
      if (!("grants" in fitted)) return void seen.misfits++;
      seen.fits++;
      assertEquals(fitted.grants, grants);
      assertInside(fitted.grants, parent);
    }),
    { numRuns: 1_000 },
  );
  assert(seen.fits > 100 && seen.misfits > 100, JSON.stringify(seen));
});

Deno.test("fitGrants: everything that does not fit is named by axis and entry, all at once, and nothing is given", () => {
  const child = grantsWith({
    fs: { work: "rw", mounts: [{ guest: "/a", mode: "rw" }, { guest: "/b", mode: "ro" }] },
    env: ["LANG", "TZ"],
    net: ["https://*.a.b", "tcp://[::1]:53"],
    spawn: ["reader", "worker"],
    limits: { ...grantsWith({}).limits, memory_mb: 65, cpu_seconds: 2 },
  });
  const parent = grantsWith({
    fs: { work: "ro", mounts: [{ guest: "/a", mode: "ro", host: "/h" }] },
    env: ["TZ"],
    net: ["https://c.a.b"],
    spawn: ["worker"],
    stdio: false,
    clocks: false,
    random: false,
    limits: { ...child.limits, memory_mb: 64, cpu_seconds: 1 },
  });
  assertEquals(names({ declared: declare(child), parent, mounts: { "/z": "/a" } }), [
    "fs.mounts /z",
    "fs.mounts /b",
    "fs.work fs.work",
    "fs.mounts /a",
    "env LANG",
    "net https://*.a.b",
    "net tcp://[::1]:53",
    "spawn reader",
    "stdio stdio",
    "clocks clocks",
    "random random",
    "limits memory_mb",
    "limits cpu_seconds",
  ]);
  assertEquals(names({ declared: declare(parent), parent }), []);
});

Deno.test("fitGrants: a mount is the parent's whole mount of that guest path, or of the one named; its own host counts for nothing", () => {
  const parent = grantsWith({
    fs: { mounts: [{ guest: "/docs", mode: "ro", host: "/h/docs" }, { guest: "/out", mode: "rw", host: "/h/out" }] },
  });
  const mount = (guest: string, mode?: "ro" | "rw", host?: string): DeclaredGrants => ({
    fs: { mounts: [{ guest, ...(mode === undefined ? {} : { mode }), ...(host === undefined ? {} : { host }) }] },
  });
  assertEquals(fits({ declared: mount("/docs", "ro", "/etc"), parent }).fs.mounts, [
    { guest: "/docs", mode: "ro", host: "/h/docs" },
  ]);
  const mapped = { declared: mount("/in"), parent, mounts: { "/in": "/out" } };
  assertEquals(fits(mapped).fs.mounts, [{ guest: "/in", mode: "ro", host: "/h/out" }]);
  assertEquals(names({ ...mapped, mounts: {} }), ["fs.mounts /in"]);
  for (const from of ["/docs/2024", "/h/docs", "/workdir", "/runtime", "/", "", "/docs/", "__proto__"]) {
    assertEquals(names({ ...mapped, mounts: { "/in": from } }), ["fs.mounts /in"], from);
  }
  assertEquals(names({ declared: mount("/in", "rw"), parent, mounts: { "/in": "/docs" } }), ["fs.mounts /in"]);
  assertEquals(fits({ declared: mount("/in", "rw"), parent, mounts: { "/in": "/out" } }).fs.mounts[0]?.mode, "rw");
  const unboundParent = grantsWith({ fs: { mounts: [{ guest: "/docs", mode: "ro" }] } });
  assertEquals(names({ declared: mount("/docs"), parent: unboundParent }), ["fs.mounts /docs"]);
});

Deno.test("fitGrants: one folder may not be read-only and writable in one child", () => {
  const parent = grantsWith({ fs: { mounts: [{ guest: "/out", mode: "rw", host: "/h/out" }] } });
  const declared = (mode: "ro" | "rw"): DeclaredGrants => ({
    fs: { mounts: [{ guest: "/in", mode }, { guest: "/out", mode: "rw" }] },
  });
  const mounts = { "/in": "/out" };
  // Who delegates reads this: the names that the guests know, and no place of the host's.
  assertEquals(fitGrants({ declared: declared("ro"), parent, mounts }), {
    misfits: [{
      axis: "fs.mounts",
      entry: "/in",
      text: "the mount /in, which is ro: it can be written through /out",
    }],
  });
  assertEquals(fits({ declared: declared("rw"), parent, mounts }).fs.mounts.length, 2);
});

Deno.test("fitGrants: limits that nobody wrote are the parent's where those are less; a floor is never lowered", () => {
  const limits = { memory_mb: 64, deadline_ms: 1_000, cpu_seconds: 3, open_files: 8, file_bytes: 10, work_bytes: 20 };
  const parent = grantsWith({ limits, containment: "scoped" });
  const child = fits({ declared: {}, parent });
  assertEquals([child.limits, child.containment], [limits, "scoped"]);
  assertEquals(fits({ declared: { containment: "advisory" }, parent }).containment, "scoped");
  assertEquals(fits({ declared: { containment: "scoped" }, parent: grantsWith({}) }).containment, "scoped");
  assertEquals(fits({ declared: {}, parent: grantsWith({}) }), grantsWith({}));
  assertEquals(fits({ declared: { limits: { memory_mb: 64, cpu_seconds: 3 } }, parent }).limits, limits);
  assertEquals(names({ declared: { limits: { memory_mb: 65, cpu_seconds: 4 } }, parent }), [
    "limits memory_mb",
    "limits cpu_seconds",
  ]);
});
