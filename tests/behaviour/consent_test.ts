import { assertEquals } from "@std/assert";
import { fixture, forEachMode } from "../harness.ts";

forEachMode(
  "consent: to all that a manifest asks for it is kept; under a ceiling that takes some of it, it holds for that run alone",
  async (bed) => {
    const manifest = { name: "asks", version: "0.1.0", component: "guest.wasm", grants: { env: ["LANG"] } };
    const folder = bed.folder("archive/asks", { "capsule.jsonc": JSON.stringify(manifest) });
    Deno.copyFileSync(await fixture("ok"), `${folder}/guest.wasm`);
    const ceiling = `${folder}/../boll.jsonc`;
    const run = async (...flags: string[]) => (await bed.run(["run", folder, ...flags])).code;
    // Whoever made the archive put the ceiling into it, and can take it away.
    Deno.writeTextFileSync(ceiling, `{ "ceiling": {} }`);
    assertEquals([await run("--accept"), await run()], [0, 5]);
    Deno.removeSync(ceiling);
    assertEquals([await run(), await run("--accept"), await run()], [5, 0, 0]);
    Deno.writeTextFileSync(ceiling, `{ "ceiling": {} }`);
    assertEquals(await run(), 0);
  },
);

forEachMode("consent: given to less, by --no-net or a mount made read-only, it is not kept for more", async (bed) => {
  const fs = { mounts: [{ guest: "/data", mode: "rw" }] };
  const manifest = {
    name: "asks",
    version: "0.1.0",
    component: "guest.wasm",
    grants: { net: ["https://example.com"], fs },
  };
  const folder = bed.folder("asks", { "capsule.jsonc": JSON.stringify(manifest) });
  Deno.copyFileSync(await fixture("ok"), `${folder}/guest.wasm`);
  const data = bed.folder("data");
  const run = async (...flags: string[]) => (await bed.run(["run", folder, ...flags])).code;
  assertEquals(await run("--accept", "--no-net", "--mount", `${data}:/data`), 0);
  assertEquals(await run("--no-net", "--mount", `${data}:/data`), 5);
  assertEquals(await run("--accept", "--mount", `${data}:/data:ro`), 0);
  assertEquals(await run("--mount", `${data}:/data:ro`), 5);
  assertEquals(await run("--accept", "--mount", `${data}:/data`), 0);
  assertEquals(await run("--no-net", "--mount", `${data}:/data:ro`), 0);
});
