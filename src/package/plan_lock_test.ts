import { assert, assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { planLock, type PlanLockOptions, writeLock } from "./plan_lock.ts";
import { WorkspaceFolder } from "./workspace_fixture.ts";

const plan = async (space: WorkspaceFolder, options?: PlanLockOptions) => await planLock(await space.read(), options);

async function relock(space: WorkspaceFolder, options?: PlanLockOptions): Promise<readonly string[]> {
  const planned = await plan(space, options);
  writeLock(planned);
  assertEquals((await plan(space)).isCurrent, true);
  return planned.changes.map(({ kind, name }) => `${kind} ${name}`);
}

async function refusal(space: WorkspaceFolder, options?: PlanLockOptions): Promise<CapsuleError> {
  return await assertRejects(() => plan(space, options), CapsuleError);
}

Deno.test("planLock: the workspace's own capsules by its globs, and no other; written so that it is current", async () => {
  using space = new WorkspaceFolder(["capsules/*", "deep/**/c?"]);
  for (const path of ["capsules/b", "capsules/a", "deep/c1", "deep/x/y/c2"]) {
    space.capsule(path, { name: path.split("/").at(-1)! });
  }
  for (const path of ["d", "capsules/b/inner", "deep/x", "capsules/.git", ".boll/c1", "other/c1"]) {
    space.capsule(path, { name: "foreign" });
  }
  Deno.mkdirSync(`${space.dir}/capsules/empty`);
  Deno.symlinkSync("../d", `${space.dir}/capsules/link`);
  const planned = await plan(space);
  assertEquals([...planned.entries].map(([name, { path }]) => `${name} ${path}`).sort(), [
    "a capsules/a",
    "b capsules/b",
    "c1 deep/c1",
    "c2 deep/x/y/c2",
  ]);
  assertEquals(await relock(space), ["added a", "added b", "added c1", "added c2"]);
  const { mode } = Deno.lstatSync(`${space.dir}/boll.lock`);
  assertEquals((mode! & 0o022).toString(8), "0");
});

Deno.test("planLock: what changed since is named, and a lock of another text is not current", async () => {
  using space = new WorkspaceFolder();
  for (const name of ["a", "b", "c"]) space.capsule(`capsules/${name}`, { name });
  await relock(space);
  space.capsule("capsules/a", { name: "a", version: "2.0.0" });
  Deno.removeSync(`${space.dir}/capsules/b`, { recursive: true });
  Deno.renameSync(`${space.dir}/capsules/c`, `${space.dir}/capsules/moved`);
  space.capsule("capsules/d", { name: "d" });
  assertEquals(await relock(space), ["changed a", "removed b", "changed c", "added d"]);
  const path = `${space.dir}/boll.lock`;
  Deno.writeTextFileSync(path, `${Deno.readTextFileSync(path)}\n`);
  const { changes, isCurrent } = await plan(space);
  assertEquals([changes, isCurrent], [[], false]);
});

Deno.test("planLock: an added capsule stays while it is there, and no other enters unasked", async () => {
  using space = new WorkspaceFolder();
  space.capsule("capsules/boss", { name: "boss", spawn: ["worker", "boss"] });
  const worker = space.capsule("vendor/worker", { name: "worker" });
  space.capsule("vendor/stranger", { name: "stranger" });
  const missing = await refusal(space);
  assertEquals([missing.code, missing.exitStatus], ["lock.unresolved", 2]);
  assert(missing.message.includes(`${space.dir}/capsules/boss/capsule.jsonc:7:`), missing.message);
  assert(missing.message.includes("grants.spawn[0]") && missing.message.includes("--add"), missing.message);
  assertEquals(await relock(space, { add: [worker] }), ["added boss", "added worker"]);
  assertEquals(await relock(space), []);
  Deno.removeSync(worker, { recursive: true });
  assertEquals((await refusal(space)).code, "lock.unresolved");
  space.capsule("capsules/boss", { name: "boss" });
  assertEquals(await relock(space), ["changed boss", "removed worker"]);
});

Deno.test("planLock: what is added must be a capsule below the workspace", async () => {
  using space = new WorkspaceFolder();
  Deno.mkdirSync(`${space.dir}/vendor/empty`, { recursive: true });
  space.capsule("../outside", { name: "outside" });
  Deno.symlinkSync("../../outside", `${space.dir}/vendor/link`);
  for (const path of ["vendor/none", "vendor/empty", "boll.jsonc", ".", "..", "../outside", "vendor/link"]) {
    assertEquals((await refusal(space, { add: [`${space.dir}/${path}`] })).code, "lock.unresolved", path);
  }
});

Deno.test("planLock: a forged entry of the old lock brings nothing in over a link", async () => {
  using space = new WorkspaceFolder();
  space.capsule("capsules/a", { name: "a" });
  await relock(space);
  space.capsule("../outside", { name: "outside" });
  Deno.mkdirSync(`${space.dir}/vendor`);
  Deno.symlinkSync("../../outside", `${space.dir}/vendor/outside`);
  const path = `${space.dir}/boll.lock`;
  const value = JSON.parse(Deno.readTextFileSync(path));
  value.capsules.outside = { ...value.capsules.a, path: "vendor/outside" };
  Deno.writeTextFileSync(path, JSON.stringify(value));
  assertEquals([...(await plan(space)).entries.keys()], ["a"]);
});

Deno.test("planLock: two capsules of one name, and every broken one, are refused together", async () => {
  using space = new WorkspaceFolder();
  space.capsule("capsules/a", { name: "same" });
  const b = space.capsule("capsules/b", { name: "same", spawn: ["nobody"] });
  const twice = await refusal(space);
  assertEquals([twice.code, twice.problems.length], ["lock.unresolved", 2]);
  assert(twice.problems[0]!.startsWith("same: found it in capsules/a and in capsules/b"), twice.problems[0]);
  Deno.removeSync(`${b}/a.wasm`);
  Deno.writeTextFileSync(`${space.dir}/capsules/a/capsule.jsonc`, "{}");
  const broken = await refusal(space);
  assertEquals(broken.code, "manifest.invalid");
  assert(broken.problems.some((line) => line.includes("build it first")), broken.problems.join("\n"));
  assert(broken.problems.some((line) => line.includes("name: missing")), broken.problems.join("\n"));
});

Deno.test("planLock: a damaged lock is not written over; a capsule in the lock's own folder is never in it", async () => {
  using space = new WorkspaceFolder([".", "parts/*"]);
  space.capsule(".", { name: "whole", spawn: ["part"] });
  assertEquals((await refusal(space)).code, "lock.unresolved");
  space.capsule("parts/part", { name: "part" });
  assertEquals(await relock(space), ["added part"]);
  Deno.writeTextFileSync(`${space.dir}/boll.lock`, "<<<<<<<");
  assertEquals((await refusal(space)).code, "lock.invalid");
  Deno.removeSync(`${space.dir}/boll.lock`);
  space.capsule("parts/part", { name: "part", spawn: ["whole"] });
  assertEquals((await refusal(space)).code, "lock.unresolved");
});
