import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { captureContext } from "../context_fixture.ts";
import { main } from "../main.ts";

type Boll = (...argv: string[]) => Promise<{ exitCode: number; stdout: string; stderr: string }>;

async function withFolder(run: (folder: string, boll: Boll) => Promise<void>): Promise<void> {
  const folder = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    await run(folder, async (...argv) => {
      const captured = captureContext({ variables: { BOLL_HOME: `${folder}/home` } });
      const exitCode = await main(argv, captured.context);
      return { exitCode, stdout: captured.stdout(), stderr: captured.stderr() };
    });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** The smallest component: magic, version 13, layer 1. */
const COMPONENT = new Uint8Array([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]);

function writeCapsule(folder: string, manifest: string): void {
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(`${folder}/capsule.jsonc`, manifest);
  Deno.writeFileSync(`${folder}/guest.wasm`, COMPONENT);
}

const MANIFEST = `{ "name": "guest", "version": "0.1.0", "component": "guest.wasm" }\n`;

Deno.test("boll init: writes a commented workspace once, trusts it, and never overwrites", () =>
  withFolder(async (folder, boll) => {
    const path = `${folder}/project/boll.jsonc`;
    const first = await boll("init", `${folder}/project`);
    assertEquals(first, {
      exitCode: 0,
      stdout: `Wrote and trusts ${path}\nYour own capsules: capsules/*\n`,
      stderr: "",
    });
    const written = Deno.readTextFileSync(path);
    assertStringIncludes(written, "//");
    assertStringIncludes(Deno.readTextFileSync(`${folder}/home/trust.json`), path);
    const second = await boll("init", `${folder}/project`, "--json");
    assertEquals([second.exitCode, second.stdout], [2, ""]);
    assertEquals(JSON.parse(second.stderr).code, "workspace.exists");
    assertEquals(Deno.readTextFileSync(path), written);
  }));

Deno.test("boll init: a link in the file's place is not followed", () =>
  withFolder(async (folder, boll) => {
    Deno.symlinkSync(`${folder}/elsewhere`, `${folder}/boll.jsonc`);
    const { exitCode, stderr } = await boll("init", folder);
    assertEquals(exitCode, 2);
    assertStringIncludes(stderr, "exists already");
    Deno.removeSync(`${folder}/boll.jsonc`);
    assertEquals((await boll("init", folder)).exitCode, 0);
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), ["boll.jsonc", "home"]);
  }));

Deno.test("boll init --accept: trusts an edited workspace as it is now; a broken or missing one is refused", () =>
  withFolder(async (folder, boll) => {
    const json = async () => JSON.parse((await boll("init", folder, "--accept", "--json")).stdout);
    await boll("init", folder);
    const before = await json();
    assertEquals([before.created, before.capsules], [false, ["capsules/*"]]);
    Deno.writeTextFileSync(`${folder}/boll.jsonc`, `{ "capsules": ["mine/*"] }`);
    const after = await json();
    assertEquals(after.capsules, ["mine/*"]);
    assert(after.digest !== before.digest);
    Deno.writeTextFileSync(`${folder}/boll.jsonc`, `{ "capsuls": [] }`);
    assertEquals((await boll("init", folder, "--accept")).exitCode, 2);
    assert(Deno.lstatSync(`${folder}/boll.jsonc`).isFile);
    Deno.removeSync(`${folder}/boll.jsonc`);
    assertEquals((await boll("init", folder, "--accept")).exitCode, 2);
  }));

Deno.test("boll init: without a usable home nothing is written", () =>
  withFolder(async (folder, boll) => {
    Deno.writeTextFileSync(`${folder}/home`, "a file");
    const { exitCode, stderr } = await boll("init", `${folder}/project`);
    assertEquals(exitCode, 1);
    assertStringIncludes(stderr, "set BOLL_HOME");
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["home"]);
  }));

Deno.test("boll check: ok for a folder, a manifest, a bare component", () =>
  withFolder(async (folder, boll) => {
    writeCapsule(`${folder}/guest`, MANIFEST);
    const ok = { exitCode: 0, stdout: "ok: guest 0.1.0\n", stderr: "" };
    assertEquals(await boll("check", `${folder}/guest`), ok);
    assertEquals(await boll("check", `${folder}/guest/capsule.jsonc`), ok);
    assertEquals(await boll("check", `${folder}/guest/guest.wasm`), { ...ok, stdout: "ok: guest\n" });
    const report = JSON.parse((await boll("check", `${folder}/guest`, "--json")).stdout);
    assertEquals([report.ok, report.name, report.version, report.kind], [true, "guest", "0.1.0", "manifest"]);
    assertEquals(report.component, `${folder}/guest/guest.wasm`);
    assert(/^sha256:[0-9a-f]{64}$/.test(report.digest));
  }));

Deno.test("boll check: every problem with its place, the last line ours, exit 2", () =>
  withFolder(async (folder, boll) => {
    writeCapsule(`${folder}/guest`, `{\n  "nme": "guest",\n  "version": "one",\n  "component": "guest.wasm"\n}\n`);
    const human = await boll("check", `${folder}/guest`);
    assertEquals([human.exitCode, human.stdout], [2, ""]);
    const lines = human.stderr.trimEnd().split("\n");
    assert(lines.length >= 3, human.stderr);
    for (const line of lines.slice(0, -1)) assert(/^ {2}\S+capsule\.jsonc:\d+:\d+: /.test(line), line);
    assert(lines.at(-1)!.startsWith("boll: "));
    assertEquals(new Set(lines).size, lines.length);
    const json = await boll("check", `${folder}/guest`, "--json");
    const report = JSON.parse(json.stderr);
    assertEquals([report.code, report.problems.length], ["manifest.invalid", lines.length - 1]);
  }));

Deno.test("boll check: a single problem is said once", () =>
  withFolder(async (folder, boll) => {
    for (const broken of ["{", `{ "name": "a", "version": "1.0.0", "component": 1 }`]) {
      writeCapsule(`${folder}/guest`, broken);
      const { exitCode, stderr } = await boll("check", `${folder}/guest`);
      assertEquals([exitCode, stderr.trimEnd().split("\n").length], [2, 1], stderr);
      assertStringIncludes(stderr, "capsule.jsonc:1:");
    }
  }));

Deno.test("boll check: a capsule that is not there, or whose component is not, is exit 2", () =>
  withFolder(async (folder, boll) => {
    assertEquals((await boll("check", `${folder}/absent`)).exitCode, 2);
    writeCapsule(`${folder}/guest`, MANIFEST);
    Deno.removeSync(`${folder}/guest/guest.wasm`);
    const { exitCode, stderr } = await boll("check", `${folder}/guest`);
    assertEquals(exitCode, 2);
    assertStringIncludes(stderr, "guest.wasm");
  }));

Deno.test("boll check: a component that is no WebAssembly is exit 2, with the line that names it", () =>
  withFolder(async (folder, boll) => {
    writeCapsule(`${folder}/guest`, MANIFEST);
    assertEquals((await boll("check", `${folder}/guest`)).exitCode, 0);
    for (const text of ["", "\0as", "text, and no component"]) {
      Deno.writeTextFileSync(`${folder}/guest/guest.wasm`, text);
      const { exitCode, stdout, stderr } = await boll("check", `${folder}/guest`);
      assertEquals([exitCode, stdout], [2, ""]);
      assertStringIncludes(stderr, "guest/capsule.jsonc:1: ");
      assertEquals(JSON.parse((await boll("check", `${folder}/guest`, "--json")).stderr).code, "component.not_wasm");
      assertEquals((await boll("check", `${folder}/guest/guest.wasm`)).exitCode, 2);
    }
  }));

Deno.test("boll run, serve-http: what may delegate asks for consent; a service may not yet, at the line that says so", () =>
  withFolder(async (folder, boll) => {
    const manifest = (spawn: string) =>
      `{ "name": "guest", "version": "0.1.0", "component": "guest.wasm",\n  "grants": { "spawn": ${spawn} } }\n`;
    Deno.writeTextFileSync(`${folder}/boll.jsonc`, `{ "ceiling": {} }`);
    writeCapsule(`${folder}/guest`, manifest(`["worker"]`));
    const service = await boll("serve-http", `${folder}/guest`, "--accept");
    assertEquals(service.exitCode, 2);
    const refusal = `${folder}/guest/capsule.jsonc:2:15: grants.spawn: not supported for a service yet; ` +
      "remove it, or let a command delegate: `boll run`, `boll serve`";
    assertStringIncludes(service.stderr, refusal);
    const run = await boll("run", `${folder}/guest`);
    assertStringIncludes(run.stderr, "a foreign capsule that was not accepted yet");
    writeCapsule(`${folder}/guest`, manifest("[]"));
    const without = await boll("serve-http", `${folder}/guest`);
    assertStringIncludes(without.stderr, "a foreign capsule that was not accepted yet");
  }));

Deno.test("boll lock: writes what the workspace has, from any folder of it; then it is current until a capsule changes", () =>
  withFolder(async (folder, boll) => {
    Deno.writeTextFileSync(`${folder}/boll.jsonc`, "{}");
    writeCapsule(`${folder}/capsules/guest`, MANIFEST);
    const path = `${folder}/boll.lock`;
    const check = await boll("lock", folder, "--check");
    assertEquals([check.exitCode, check.stdout], [1, ""]);
    assertStringIncludes(check.stderr, "not current (added guest); run `boll lock`");
    assertEquals([...Deno.readDirSync(folder)].some(({ name }) => name === "boll.lock"), false);
    const wrote = { exitCode: 0, stdout: `Wrote ${path}: 1 capsule\n  added guest\n`, stderr: "" };
    assertEquals(await boll("lock", `${folder}/capsules/guest`), wrote);
    const current = { exitCode: 0, stdout: `${path} is current: 1 capsule\n`, stderr: "" };
    assertEquals([await boll("lock", folder), await boll("lock", folder, "--check")], [current, current]);
    const { digest } = JSON.parse((await boll("check", `${folder}/capsules/guest`, "--json")).stdout);
    const capsules = { guest: { version: "0.1.0", digest, path: "capsules/guest" } };
    assertEquals(JSON.parse(Deno.readTextFileSync(path)), { version: 1, capsules });
    Deno.writeTextFileSync(`${folder}/capsules/guest/more`, "");
    const stale = await boll("lock", folder, "--check", "--json");
    assertEquals([stale.exitCode, JSON.parse(stale.stderr).code], [1, "lock.not_current"]);
    const report = JSON.parse((await boll("lock", folder, "--json")).stdout);
    assertEquals([report.lock, report.written, report.changes], [path, true, [{ kind: "changed", name: "guest" }]]);
    assert(report.capsules.guest.digest !== digest);
  }));

Deno.test("boll lock --add: locks a capsule that no glob names; without a workspace or a place there is nothing to lock", () =>
  withFolder(async (folder, boll) => {
    assertEquals((await boll("lock", `${folder}/nowhere`)).exitCode, 2);
    const none = await boll("lock", folder);
    assertEquals(none.exitCode, 2);
    assertStringIncludes(none.stderr, "make one with `boll init`");
    Deno.writeTextFileSync(`${folder}/boll.jsonc`, "{}");
    writeCapsule(`${folder}/vendor/guest`, MANIFEST);
    assertStringIncludes((await boll("lock", folder)).stdout, "Wrote");
    const added = await boll("lock", folder, "--add", `${folder}/vendor/guest`);
    assertStringIncludes(added.stdout, "added guest");
    assertStringIncludes((await boll("lock", folder, "--check")).stdout, "is current: 1 capsule");
    const wrong = await boll("lock", folder, "--add", `${folder}/vendor`);
    assertEquals(wrong.exitCode, 2);
    assertStringIncludes(wrong.stderr, "found no capsule.jsonc in it");
  }));
