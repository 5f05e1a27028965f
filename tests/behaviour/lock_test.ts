import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { forEachMode } from "../harness.ts";

forEachMode("boll lock: a workspace's capsules, and a lock that no writable mount may reach", async (bed) => {
  const workspace = bed.folder("workspace");
  const capsule = `${workspace}/capsules/guest`;
  Deno.mkdirSync(capsule, { recursive: true });
  Deno.writeTextFileSync(`${capsule}/capsule.jsonc`, `{ "name": "guest", "version": "0.1.0", "component": "a.wasm" }`);
  Deno.writeFileSync(`${capsule}/a.wasm`, new Uint8Array([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]));
  Deno.writeTextFileSync(`${workspace}/boll.jsonc`, "{}");
  const locked = await bed.run(["lock", workspace]);
  assertEquals([locked.code, locked.stderr], [0, ""]);
  assertMatch(locked.stdout, /added guest/);
  assertEquals((await bed.run(["lock", workspace, "--check"])).code, 0);
  Deno.removeSync(`${workspace}/boll.jsonc`);
  Deno.removeSync(capsule, { recursive: true });
  const reached = await bed.guest("hello_stdio", ["--mount", `${workspace}:/data:rw`]);
  assertEquals(reached.code, 5);
  assertStringIncludes(reached.stderr, "boll.lock");
  assertEquals((await bed.guest("hello_stdio", ["--mount", `${workspace}:/data:ro`])).code, 0);
});
