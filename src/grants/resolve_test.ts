import { assert, assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { NO_GRANTS } from "./defaults.ts";
import type { ResolvedGrants } from "./resolve.ts";
import { Project } from "./project_fixture.ts";

async function refusal(run: Promise<ResolvedGrants>): Promise<CapsuleError> {
  const error = await assertRejects(() => run, CapsuleError);
  assertEquals(error.exitStatus, 5);
  return error;
}

Deno.test("resolveGrants: silence is stdio, clocks, random and the default limits, for a manifest and a bare component", async () => {
  using project = new Project();
  for (const capsule of [await project.capsule("foreign", undefined), await project.bare()]) {
    assertEquals(await project.resolve(capsule), { grants: NO_GRANTS, envValues: {}, warnings: [], unbound: [] });
  }
});

Deno.test("resolveGrants: `host` counts in an own manifest, in a foreign one never", async () => {
  using project = new Project();
  const grants = { fs: { mounts: [{ host: "../../docs/./deep", guest: "/data", mode: "ro" }] } };
  const own = await project.resolve(await project.capsule("own", grants));
  assertEquals(own.grants.fs.mounts, [{ guest: "/data", mode: "ro", host: `${project.dir}/project/docs/deep` }]);
  const absolute = { fs: { mounts: [{ host: `${project.dir}/project/docs`, guest: "/data" }] } };
  const foreign = await refusal(project.resolve(await project.capsule("foreign", absolute)));
  assertEquals(foreign.code, "grant.unbound_mount");
  assert(foreign.message.includes("add --mount DIR:/data:ro"), foreign.message);
  const shell = await project.capsule("foreign", { fs: { mounts: [{ guest: "/d; $(id)" }] } });
  const quoted = await refusal(project.resolve(shell));
  assert(quoted.message.includes("add --mount 'DIR:/d; $(id):ro'"), quoted.message);
  const untrusted = project.resolve(await project.capsule("own", grants), {}, { own: false });
  assertEquals((await refusal(untrusted)).code, "grant.unbound_mount");
});

Deno.test("resolveGrants: --mount binds what is declared, adds what is not, and links resolve once", async () => {
  using project = new Project();
  const docs = `${project.dir}/project/docs`;
  Deno.symlinkSync("project/docs", `${project.dir}/link`);
  const capsule = await project.capsule("foreign", {
    fs: { mounts: [{ guest: "/data", mode: "rw" }, { guest: "/more" }] },
  });
  const both = await refusal(project.resolve(capsule));
  assert(both.message.endsWith("add --mount DIR:/data:rw --mount DIR:/more:ro"), both.message);
  const { grants } = await project.resolve(capsule, {
    mounts: [
      { host: `${project.dir}/link`, guest: "/data", mode: "ro" },
      { host: docs, guest: "/more" },
      { host: `${project.dir}/out`, guest: "/new", mode: "rw" },
    ],
  });
  assertEquals(grants.fs.mounts, [
    { guest: "/data", mode: "ro", host: docs },
    { guest: "/more", mode: "ro", host: docs },
    { guest: "/new", mode: "rw", host: `${project.dir}/out` },
  ]);
  const listed = await project.resolve(capsule, {}, { unbound: "list" });
  assertEquals([listed.grants.fs.mounts, listed.unbound.map(({ guest }) => guest)], [[], ["/data", "/more"]]);
});

Deno.test("resolveGrants: hosts that are missing, no folder, or the kernel's own are refused", async () => {
  using project = new Project();
  const bare = await project.bare();
  for (const host of ["none", "bare.wasm", "bin/boll", "/proc", "/proc/self/fd", "/dev", "/sys/kernel"]) {
    const path = host.startsWith("/") ? host : `${project.dir}/${host}`;
    const mounts = [{ host: path, guest: "/data" }];
    const error = await refusal(project.resolve(bare, { mounts }));
    assert(["grant.bad_mount", "grant.protected_path"].includes(error.code), host);
  }
  await project.resolve(bare, { mounts: [{ host: `${project.dir}/out`, guest: "/data" }] });
});

Deno.test("resolveGrants: guest paths may not overlap one another nor what is reserved", async () => {
  using project = new Project();
  const capsule = await project.capsule("own", { fs: { mounts: [{ host: "../../docs", guest: "/data" }] } });
  const at = (guest: string) => project.resolve(capsule, { mounts: [{ host: `${project.dir}/out`, guest }] });
  for (const guest of ["/data/below", "/workdir", "/workdir/x", "/runtime"]) {
    assertEquals((await refusal(at(guest))).code, "grant.bad_mount", guest);
  }
  assertEquals((await at("/data2")).grants.fs.mounts.length, 2);
  const twice = ["/x", "/x"].map((guest) => ({ host: `${project.dir}/out`, guest }));
  assertEquals((await refusal(project.resolve(capsule, { mounts: twice }))).code, "grant.bad_mount");
});

Deno.test("resolveGrants: a ro folder inside a rw one is refused, a rw folder inside a ro one is usual", async () => {
  using project = new Project();
  const bare = await project.bare();
  const [docs, deep] = [`${project.dir}/project/docs`, `${project.dir}/project/docs/deep`];
  const run = (ro: string, rw: string) =>
    project.resolve(bare, { mounts: [{ host: ro, guest: "/ro" }, { host: rw, guest: "/rw", mode: "rw" }] });
  assertEquals((await refusal(run(deep, docs))).code, "grant.bad_mount");
  assertEquals((await refusal(run(docs, docs))).code, "grant.bad_mount");
  assertEquals((await run(docs, deep)).grants.fs.mounts.length, 2);
  const inWork = project.resolve(bare, { mounts: [{ host: deep, guest: "/ro" }], work: docs });
  assertEquals((await refusal(inWork)).code, "grant.bad_mount");
});

Deno.test("resolveGrants: --work gives the folder; its mode is the manifest's, else rw", async () => {
  using project = new Project();
  const work = `${project.dir}/out`;
  const of = async (grants: unknown, flags: { work?: string }) => {
    const resolved = await project.resolve(await project.capsule("foreign", grants), flags);
    return [resolved.grants.fs.work, resolved.work];
  };
  assertEquals(await of({}, {}), [undefined, undefined]);
  assertEquals(await of({ fs: { work: "ro" } }, {}), ["ro", undefined]);
  assertEquals(await of({ fs: { work: "ro" } }, { work }), ["ro", work]);
  assertEquals(await of({}, { work }), ["rw", work]);
});

Deno.test("resolveGrants: exactly the granted variables that are set, whatever their names", async () => {
  using project = new Project();
  const capsule = await project.capsule("foreign", { env: ["LANG", "UNSET", "__proto__"] });
  const flags = { env: [{ name: "TZ" }, { name: "A", value: "typed" }, { name: "GONE" }] };
  const { grants, envValues, warnings } = await project.resolve(capsule, flags);
  assertEquals(grants.env, ["LANG", "UNSET", "__proto__", "TZ", "A", "GONE"]);
  assertEquals(Object.entries(envValues), [["LANG", "C"], ["TZ", "UTC"], ["A", "typed"]]);
  assertEquals(warnings, ["The variable GONE is not set, so the guest does not see it"]);
});

Deno.test("resolveGrants: --memory and --deadline narrow what the manifest writes and never widen it", async () => {
  using project = new Project();
  const capsule = await project.capsule("own", { limits: { memory_mb: 256, deadline_ms: 5000 } });
  const { grants } = await project.resolve(capsule, { memoryMb: 64, deadlineMs: 5000 });
  assertEquals([grants.limits.memory_mb, grants.limits.deadline_ms], [64, 5000]);
  const error = await refusal(project.resolve(capsule, { memoryMb: 257 }));
  assertEquals(error.code, "grant.exceeds_ceiling");
  assert(/memory_mb is 256 \(.*capsule\.jsonc:\d+\)$/.test(error.message), error.message);
  assertEquals((await refusal(project.resolve(capsule, { deadlineMs: 5001 }))).code, "grant.exceeds_ceiling");
  assertEquals((await project.resolve(await project.bare(), { memoryMb: 2048 })).grants.limits.memory_mb, 2048);
});

Deno.test("resolveGrants: the containment floor is the stronger of manifest and flag", async () => {
  using project = new Project();
  const floor = async (grants: unknown, flags: { containment?: "advisory" | "scoped" }) =>
    (await project.resolve(await project.capsule("foreign", grants), flags)).grants.containment;
  assertEquals(await floor({}, {}), undefined);
  assertEquals(await floor({ containment: "scoped" }, { containment: "advisory" }), "scoped");
  assertEquals(await floor({ containment: "advisory" }, { containment: "scoped" }), "scoped");
});

Deno.test("resolveGrants: a ceiling drops what a manifest asks with a warning, and refuses what was typed", async () => {
  using project = new Project({ ceiling: { fs: { work: "ro" }, env: ["LANG"], limits: { memory_mb: 64 } } });
  const capsule = await project.capsule("own", {
    fs: { work: "rw", mounts: [{ host: "../../docs", guest: "/data" }] },
    env: ["LANG", "TZ"],
  });
  const { grants, warnings, envValues, isNarrowed } = await project.resolve(capsule);
  assertEquals(isNarrowed, true);
  assertEquals([grants.fs, grants.env, grants.limits.memory_mb], [{ work: "ro", mounts: [] }, ["LANG"], 64]);
  assertEquals(envValues, { LANG: "C" });
  assertEquals(warnings.length, 3);
  for (const [index, what] of ["the work folder (rw to ro)", "the mount /data", "the variable TZ"].entries()) {
    assert(warnings[index]!.startsWith(`Dropped ${what}: the ceiling of `), warnings[index]);
  }
  for (
    const flags of [
      { mounts: [{ host: `${project.dir}/out`, guest: "/out" }] },
      { env: [{ name: "TZ" }] },
      { memoryMb: 65 },
    ]
  ) assertEquals((await refusal(project.resolve(capsule, flags))).code, "grant.exceeds_ceiling");
  assertEquals((await project.resolve(capsule, { memoryMb: 32 })).grants.limits.memory_mb, 32);
});

Deno.test("resolveGrants: a ceiling never binds a mount, and a folder it names holds below it only", async () => {
  using project = new Project();
  Deno.writeTextFileSync(
    `${project.dir}/boll.jsonc`,
    JSON.stringify({ ceiling: { fs: { mounts: [{ guest: "/data", host: "./project/docs", mode: "rw" }] } } }),
  );
  const capsule = await project.capsule("foreign", { fs: { mounts: [{ guest: "/data" }] } });
  assertEquals((await refusal(project.resolve(capsule))).code, "grant.unbound_mount");
  const bind = (host: string) =>
    project.resolve(capsule, { mounts: [{ host: `${project.dir}/${host}`, guest: "/data" }] });
  assertEquals((await bind("project/docs/deep")).grants.fs.mounts[0]?.host, `${project.dir}/project/docs/deep`);
  assertEquals((await refusal(bind("out"))).code, "grant.exceeds_ceiling");
});

Deno.test("resolveGrants: --net adds to the manifest's entries, --no-net takes all away", async () => {
  using project = new Project();
  const own = await project.capsule("own", { net: ["HTTPS://B.example", "https://a.example"] });
  assertEquals((await project.resolve(own)).grants.net, ["https://a.example", "https://b.example"]);
  const added = await project.resolve(own, { net: ["listen:8080", "https://a.example"] });
  assertEquals(added.grants.net, ["https://a.example", "https://b.example", "listen:8080"]);
  assertEquals((await project.resolve(own, { noNet: true })).grants.net, []);
  assertEquals((await project.resolve(await project.bare())).grants.net, []);
  assertEquals((await project.resolve(await project.bare(), { net: ["tcp://a:1"] })).grants.net, ["tcp://a:1"]);
});

Deno.test("resolveGrants: a ceiling narrows declared entries with a warning and refuses a typed one", async () => {
  using project = new Project({ ceiling: { net: ["https://api.example.com"] } });
  const own = await project.capsule("own", { net: ["https://*.example.com", "tcp://a:1"] });
  const { grants, warnings } = await project.resolve(own);
  assertEquals(grants.net, ["https://api.example.com"]);
  assertEquals(warnings.map((warning) => warning.split(":")[0]), [
    "Dropped the network entry https",
    "Dropped the network entry tcp",
  ]);
  assertEquals((await project.resolve(own, { net: ["https://api.example.com"] })).grants.net, grants.net);
  const error = await assertRejects(() => project.resolve(own, { net: ["tcp://b:1"] }), CapsuleError);
  assertEquals(error.code, "grant.exceeds_ceiling");
  assert(error.message.includes("tcp://b:1"), error.message);
});

Deno.test("resolveGrants: the certificates of a workspace may not be written", async () => {
  using project = new Project({ ca: "certs/ca.pem" });
  project.mkdir("project/certs");
  const own = await project.capsule("own", {});
  const mount = (mode: "ro" | "rw") => ({ mounts: [{ host: `${project.dir}/project/certs`, guest: "/c", mode }] });
  assertEquals((await project.resolve(own, mount("ro"))).grants.fs.mounts.length, 1);
  const error = await assertRejects(() => project.resolve(own, mount("rw")), CapsuleError);
  assertEquals(error.code, "grant.protected_path");
});

Deno.test("resolveGrants: capsules to delegate to are the manifest's, below every ceiling; silence in one is none", async () => {
  const of = async (ceiling?: unknown) => {
    using project = new Project(ceiling === undefined ? {} : { ceiling });
    const { grants, warnings, isNarrowed } = await project.resolve(
      await project.capsule("own", { spawn: ["worker", "own"] }),
    );
    return { spawn: grants.spawn, dropped: warnings.map((one) => one.split(": ")[0]), isNarrowed };
  };
  assertEquals(await of(), { spawn: ["worker", "own"], dropped: [], isNarrowed: undefined });
  assertEquals(await of({ spawn: ["own", "other"] }), {
    spawn: ["own"],
    dropped: ["Dropped delegating to worker"],
    isNarrowed: true,
  });
  assertEquals(await of({}), {
    spawn: [],
    dropped: ["Dropped delegating to worker", "Dropped delegating to own"],
    isNarrowed: true,
  });
  using project = new Project();
  assertEquals((await project.resolve(await project.bare())).grants.spawn, []);
});
