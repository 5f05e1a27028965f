import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Bed, fixture, forEachMode, forExecutable } from "../harness.ts";
import { Terminal } from "../terminal.ts";

/** Question on the screen → what is typed. */
type Script = readonly (readonly [question: string | RegExp, answer: string])[];

/** Runs boll at a terminal and answers its questions in order. */
async function answer(bed: Bed, args: readonly string[], script: Script) {
  await using terminal = new Terminal(bed.command(args), { scratch: bed.root, cwd: bed.root, env: bed.environment() });
  for (const [question, keys] of script) {
    await terminal.waitFor(question);
    await terminal.type(keys);
  }
  const code = await terminal.end();
  return { code, screen: terminal.output.text };
}

async function makeCapsule(bed: Bed, component: string, grants: object): Promise<string> {
  const manifest = { name: "asks", version: "0.1.0", component: "guest.wasm", grants };
  const folder = bed.folder("asks", { "capsule.jsonc": JSON.stringify(manifest) });
  Deno.copyFileSync(await fixture(component), `${folder}/guest.wasm`);
  return folder;
}

forEachMode(
  "run --ask: binds the folder that is answered, and says the flag; without an answer nothing runs",
  async (bed) => {
    const fs = { mounts: [{ guest: "/data", mode: "ro" }] };
    const folder = await makeCapsule(bed, "probe", { fs });
    const data = bed.folder("data", { "a.txt": "seen" });
    const args = ["run", folder, "--accept", "--ask", "--", `readFile("/data/a.txt")`];
    const question = "a folder that it calls /data. Which one? (none) ";
    const none = await answer(bed, args, [[question, "\n"]]);
    assertEquals(none.code, 5, none.screen);
    assertStringIncludes(none.screen, "found no folder for /data");
    const given = await answer(bed, args, [[question, `${data}/nowhere\n`], ["found nothing there", `${data}\n`]]);
    assertEquals(given.code, 0, given.screen);
    assertStringIncludes(given.screen, `The same without questions: --mount ${data}:/data:ro`);
    assertStringIncludes(given.screen, "seen");
    const end = await answer(bed, args, [[question, "\x04"]]);
    assertEquals(end.code, 5, end.screen);
  },
);

forEachMode(
  "run --ask: entries for an import of the network, refused when none is given or a ceiling forbids",
  async (bed) => {
    const folder = await makeCapsule(bed, "wants_http", {});
    const args = ["run", folder, "--accept", "--ask"];
    const question = /It imports wasi:http\/.*Connections to where.*\(none\) /;
    const none = await answer(bed, args, [[question, "\n"]]);
    assertEquals([none.code, none.screen.includes("guest code ran")], [5, false], none.screen);
    const entries = "example.com\n";
    const given = await answer(bed, args, [[question, entries], [
      "found no scheme",
      "https://example.com, http://127.0.0.1:9\n",
    ]]);
    assertStringIncludes(given.screen, "guest code ran");
    assertStringIncludes(given.screen, "--net https://example.com --net http://127.0.0.1:9");
    Deno.writeTextFileSync(`${folder}/../boll.jsonc`, `{ "ceiling": { "net": [] } }`);
    const above = await answer(bed, args, [[question, "https://example.com\n"]]);
    assertEquals(above.code, 5, above.screen);
    assertStringIncludes(above.screen, "the ceiling of");
    const noNet = await answer(bed, [...args, "--no-net"], []);
    assertEquals(noNet.code, 5, noNet.screen);
  },
);

forEachMode("run --ask: an interface that the manifest switches off, for this run alone", async (bed) => {
  const folder = await makeCapsule(bed, "wants_clocks", { clocks: false });
  const args = ["run", folder, "--accept", "--ask"];
  const question = `"clocks": false. Allow? [y/N] `;
  assertEquals((await answer(bed, args, [[question, "n\n"]])).code, 5);
  assertEquals((await answer(bed, args, [[question, "y\n"]])).code, 0);
  assertEquals((await answer(bed, ["run", folder], [])).code, 5);
});

forEachMode("run --ask: nothing to ask asks nothing, and nobody to ask is an error", async (bed) => {
  const guest = await fixture("hello_stdio");
  const asked = await answer(bed, ["run", guest, "--ask"], []);
  assertEquals([asked.code, asked.screen.includes("?")], [0, false], asked.screen);
  const alone = await bed.run(["run", guest, "--ask"]);
  assertEquals([alone.code, alone.stdout], [5, ""]);
  assertStringIncludes(alone.lastLine, "nobody is there to ask; give --mount, --net or --accept");
});

forExecutable(
  "serve --ask: binds the folder that is answered, and then the door opens; nobody to ask is an error",
  async (bed) => {
    const fs = { mounts: [{ guest: "/data", mode: "ro" }] };
    const folder = await makeCapsule(bed, "probe", { fs });
    const data = bed.folder("data", { "a.txt": "seen" });
    const args = ["serve", folder, "--accept", "--ask"];
    const question = "a folder that it calls /data. Which one? (none) ";
    const none = await answer(bed, args, [[question, "\n"]]);
    assertEquals(none.code, 5, none.screen);
    {
      await using terminal = new Terminal(bed.command(args), {
        scratch: bed.root,
        cwd: bed.root,
        env: bed.environment(),
      });
      await terminal.waitFor(question);
      await terminal.type(`${data}\n`);
      await terminal.waitFor("its token: ");
      const [session] = bed.sessions().slice(-1).map((folder) => folder.split("/").at(-1)!);
      assertEquals((await bed.run(["stop", session!])).code, 0);
      assertEquals(await terminal.end(), 0, terminal.output.text);
      assertStringIncludes(terminal.output.text, `The same without questions: --mount ${data}:/data:ro`);
    }
    const { code, lastLine } = await bed.run(args);
    assertEquals(code, 5);
    assertStringIncludes(lastLine, "nobody is there to ask");
  },
);
