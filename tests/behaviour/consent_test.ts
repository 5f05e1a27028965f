import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fixture, forEachMode, forExecutable } from "../harness.ts";
import { DelegatingWorkspace } from "../process/delegating_workspace.ts";
import { Terminal } from "../terminal.ts";

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

forExecutable(
  "consent: given to another model by --uri, it is not kept for the one that the manifest names",
  async (bed) => {
    const inference = { uri: "http://127.0.0.1:9/v1", model: "m", api_key: "${THE_KEY}" };
    const manifest = { name: "asks", version: "0.1.0", inference, secrets: { THE_KEY: ["http://127.0.0.1:9"] } };
    const folder = bed.folder("asking-agent", { "capsule.jsonc": JSON.stringify(manifest) });
    const env = { THE_KEY: "the-key" };
    // With the consent it is started, and finds no model.
    const run = async (...flags: string[]) => (await bed.run(["run", ...flags, folder, "go"], { env })).code;
    assertEquals(await run("--accept", "--uri", "http://127.0.0.1:1", "--model", "mine"), 4);
    assertEquals([await run(), await run("--uri", "http://127.0.0.1:1", "--model", "mine")], [5, 5]);
    assertEquals([await run("--accept"), await run()], [4, 4]);
    assertEquals(await run("--uri", "http://127.0.0.1:1", "--model", "mine"), 4);
  },
);

forEachMode(
  "consent: to a foreign capsule covers what it may start, as it is locked; another asks again, in an own workspace nobody is asked",
  async (bed) => {
    const space = new DelegatingWorkspace(bed);
    const asker = await space.capsule("asker", { guest: "pass_on", source: "worker", grants: { spawn: ["worker"] } });
    const worker = await space.capsule("worker", { guest: "hello_stdio", grants: { clocks: false } });
    await space.lock();
    const run = async (...flags: string[]) => (await bed.run(["run", asker, ...flags])).code;
    assertEquals([await run(), await run("--accept"), await run()], [5, 0, 0]);
    // Its own files are as they were.
    Deno.writeTextFileSync(`${worker}/more.txt`, "");
    await space.lock();
    const refused = await bed.run(["run", asker]);
    assertEquals([refused.code, refused.stdout], [5, ""]);
    assertStringIncludes(refused.lastLine, "not accepted yet with what it may start");
    const explained = (await bed.run(["explain", asker])).stdout;
    assertStringIncludes(explained, "its grants are not accepted yet");
    assertMatch(explained, /May start, each with no more than it has itself\n +worker 0\.1\.0: standard input/);
    const [child] = JSON.parse((await bed.run(["explain", asker, "--json"])).stdout).may_start;
    assertEquals([child.name, child.version, child.grants.clocks], ["worker", "0.1.0", false]);
    await using terminal = new Terminal(bed.command(["run", asker]), {
      scratch: bed.root,
      cwd: bed.root,
      env: bed.environment(),
    });
    await terminal.waitFor("and remember that? [y/N] ");
    assertMatch(terminal.output.text, /Of these it may give worker 0\.1\.0:\r\n +standard input and output, random/);
    await terminal.type("y\n");
    assertEquals(await terminal.end(), 0);
    assertEquals(await run(), 0);
    // What was accepted before still is.
    Deno.removeSync(`${worker}/more.txt`);
    await space.lock();
    assertEquals(await run(), 0);

    Deno.writeTextFileSync(`${worker}/other.txt`, "");
    await space.lock();
    assertEquals(await run(), 5);
    assertEquals((await bed.run(["init", space.root, "--accept"])).code, 0);
    assertEquals(await run(), 0);
  },
);
