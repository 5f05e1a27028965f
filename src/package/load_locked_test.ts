import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { digestCapsule } from "../manifest/mod.ts";
import { findLocked, loadLocked } from "./load_locked.ts";
import { formatLock, type Lock, type LockEntry } from "./lock.ts";
import { planLock, writeLock } from "./plan_lock.ts";
import { findLock, readLock } from "./read_lock.ts";
import { WorkspaceFolder } from "./workspace_fixture.ts";

async function locked(space: WorkspaceFolder): Promise<Lock> {
  writeLock(await planLock(await space.read()));
  return readLock(`${space.dir}/boll.lock`);
}

async function refusal(lock: Lock, name: string, version?: string): Promise<CapsuleError> {
  const error = await assertRejects(() => loadLocked(lock, name, version), CapsuleError);
  assert(error.message.startsWith("Load capsule ") || error.message.startsWith("Find capsule "), error.message);
  return error;
}

/** The lock with other fields in an entry, as somebody could have written it. */
function forged(lock: Lock, name: string, fields: Partial<LockEntry>): Lock {
  return {
    ...lock,
    entries: new Map([...lock.entries, [name, { ...lock.entries.values().next().value!, ...fields }]]),
  };
}

Deno.test("loadLocked: the capsule as it was locked, with its manifest and digests; also one that names itself", async () => {
  using space = new WorkspaceFolder();
  const folder = space.capsule("capsules/loop", { name: "loop", spawn: ["loop"] });
  const lock = await locked(space);
  const { capsule, digests, manifest } = await loadLocked(lock, "loop");
  assertEquals([capsule.root, manifest.grants.spawn, digests], [folder, ["loop"], digestCapsule(capsule)]);
  assertEquals(digests.capsule, lock.entries.get("loop")?.digest);
  assertEquals((await loadLocked(lock, "loop", "1.0.0")).digests, digests);
});

Deno.test("findLocked: a name or version that is not in the lock is not installed, whatever the name", async () => {
  using space = new WorkspaceFolder();
  space.capsule("capsules/worker", { name: "worker" });
  const lock = await locked(space);
  assertEquals(findLocked(lock, "worker", "1.0.0").path, "capsules/worker");
  for (
    const name of ["", "other", "constructor", "__proto__", "../worker", "capsules/worker", "worker@1.0.0", "\x1b[2J"]
  ) {
    const error = assertThrows(() => findLocked(lock, name), CapsuleError);
    assertEquals([error.code, error.exitStatus], ["capsule.not_installed", 2], name);
    assert(error.message.includes("not installed") && !error.message.includes("\x1b"), error.message);
  }
  for (const version of ["", "1.0", "1.0.0 ", "v1.0.0", "^1.0.0", "*", "2.0.0"]) {
    assertEquals((await refusal(lock, "worker", version)).code, "capsule.not_installed", version);
  }
});

Deno.test("loadLocked: any change of the files is refused by name until they are locked again", async () => {
  using space = new WorkspaceFolder();
  const folder = space.capsule("capsules/worker", { name: "worker" });
  const lock = await locked(space);
  const changes: readonly (() => void)[] = [
    () => Deno.writeTextFileSync(`${folder}/a.wasm`, "\0asmother"),
    () => Deno.writeTextFileSync(`${folder}/more.txt`, ""),
    () => space.capsule("capsules/worker", { name: "worker", version: "1.0.1" }),
    () => space.capsule("capsules/worker", { name: "worker", spawn: ["worker"] }),
    () => space.capsule("capsules/worker", { name: "other" }),
  ];
  for (const change of changes) {
    change();
    const error = await refusal(lock, "worker");
    assertEquals([error.code, error.exitStatus], ["capsule.changed", 2]);
    assert(error.message.includes(folder) && error.message.includes("boll lock"), error.message);
    Deno.removeSync(folder, { recursive: true });
    space.capsule("capsules/worker", { name: "worker" });
    await loadLocked(lock, "worker");
  }
  space.capsule("capsules/worker", { name: "worker", version: "1.0.1" });
  assert((await refusal(lock, "worker")).message.includes("version 1.0.1"));
  await loadLocked(await locked(space), "worker", "1.0.1");
  Deno.removeSync(folder, { recursive: true });
  assertEquals((await refusal(lock, "worker")).code, "capsule.changed");
  Deno.mkdirSync(folder);
  assertEquals((await refusal(lock, "worker")).code, "capsule.changed");
});

Deno.test("loadLocked: a folder that is reached over a link is refused, though its digest is the locked one", async () => {
  using space = new WorkspaceFolder();
  const folder = space.capsule("capsules/worker", { name: "worker" });
  const lock = await locked(space);
  Deno.renameSync(folder, `${space.dir}/../moved`);
  Deno.symlinkSync("../../moved", folder);
  assertEquals((await refusal(lock, "worker")).code, "capsule.bad_file");
  Deno.removeSync(folder);
  Deno.renameSync(`${space.dir}/../moved`, folder);
  await loadLocked(lock, "worker");
  Deno.renameSync(`${space.dir}/capsules`, `${space.dir}/real`);
  Deno.symlinkSync("real", `${space.dir}/capsules`);
  assertEquals((await refusal(lock, "worker")).code, "capsule.bad_file");
});

Deno.test("loadLocked: a lock that calls a capsule by another name or version, or names a file, is refused", async () => {
  using space = new WorkspaceFolder();
  space.capsule("capsules/worker", { name: "worker" });
  const lock = await locked(space);
  const other = await refusal(forged(lock, "boss", {}), "boss");
  assertEquals(other.code, "lock.invalid");
  assert(other.message.includes("worker@1.0.0"), other.message);
  assertEquals((await refusal(forged(lock, "worker", { version: "2.0.0" }), "worker", "2.0.0")).code, "lock.invalid");
  for (const path of ["capsules/worker/capsule.jsonc", "capsules/worker/a.wasm"]) {
    assertEquals((await refusal(forged(lock, "worker", { path }), "worker")).code, "capsule.bad_file", path);
  }
  await loadLocked(forged(lock, "worker", {}), "worker");
});

Deno.test("findLock: beside the nearest boll.jsonc and nowhere else; a link, a folder and a huge one are refused", async () => {
  using space = new WorkspaceFolder();
  const folder = space.capsule("capsules/worker", { name: "worker" });
  const code = (start: string) => assertThrows(() => findLock(start), CapsuleError).code;
  assertEquals(code(folder), "lock.not_found");
  await locked(space);
  assertEquals([findLock(folder).root, findLock(space.dir).root], [space.dir, space.dir]);
  Deno.writeTextFileSync(`${space.dir}/../boll.lock`, formatLock(new Map()));
  assertEquals(code(`${space.dir}/..`), "lock.not_found");
  Deno.writeTextFileSync(`${folder}/boll.lock`, formatLock(new Map()));
  assertEquals(findLock(folder).entries.size, 1);
  Deno.writeTextFileSync(`${space.dir}/capsules/boll.jsonc`, "{}");
  assertEquals(code(folder), "lock.not_found");
  Deno.removeSync(`${space.dir}/capsules/boll.jsonc`);
  const path = `${space.dir}/boll.lock`;
  Deno.renameSync(path, `${space.dir}/other.lock`);
  Deno.symlinkSync("other.lock", path);
  assertEquals(code(folder), "lock.invalid");
  Deno.removeSync(path);
  Deno.symlinkSync("nowhere", path);
  assertEquals(code(folder), "lock.invalid");
  Deno.removeSync(path);
  Deno.mkdirSync(path);
  assertEquals(code(folder), "lock.invalid");
  Deno.removeSync(path);
  Deno.writeFileSync(path, new Uint8Array([0x7b, 0xff]));
  assertEquals(code(folder), "lock.invalid");
  Deno.writeTextFileSync(path, " ".repeat(1024 * 1024) + formatLock(new Map()));
  assertEquals(code(folder), "lock.invalid");
});
