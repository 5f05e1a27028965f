import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { commandOf, isAgent, loadCapsule } from "./capsule.ts";
import { digestCapsule } from "./digest_capsule.ts";
import { digestFile, digestFolder } from "./digest.ts";

async function inFolder(body: (dir: string) => Promise<void>): Promise<void> {
  const dir = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    await body(dir);
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
}

function writeManifest(dir: string, component: string): void {
  Deno.mkdirSync(dir, { recursive: true });
  Deno.writeTextFileSync(`${dir}/capsule.jsonc`, JSON.stringify({ name: "a", version: "1.0.0", component }));
}

async function refusal(path: string): Promise<CapsuleError> {
  return await assertRejects(() => loadCapsule(path), CapsuleError);
}

Deno.test("loadCapsule: a folder, its manifest and a bare component; anything else is refused", async () => {
  await inFolder(async (dir) => {
    writeManifest(`${dir}/c`, "bin/a.wasm");
    Deno.mkdirSync(`${dir}/c/bin`);
    Deno.writeTextFileSync(`${dir}/c/bin/a.wasm`, "\0asm");
    const byFolder = await loadCapsule(`${dir}/c/`);
    const byFile = await loadCapsule(`${dir}/c/capsule.jsonc`);
    assertEquals([byFolder.kind, byFolder.root, byFolder.componentPath], [
      "manifest",
      `${dir}/c`,
      `${dir}/c/bin/a.wasm`,
    ]);
    assertEquals([byFile.root, byFile.manifestPath, byFile.version], [`${dir}/c`, `${dir}/c/capsule.jsonc`, "1.0.0"]);
    Deno.symlinkSync("c/bin/a.wasm", `${dir}/link.wasm`);
    const bare = commandOf(await loadCapsule(`${dir}/link.wasm`));
    assertEquals([bare.kind, bare.name, bare.componentPath], ["bare", "a", `${dir}/c/bin/a.wasm`]);
    const own = digestFile(bare.componentPath);
    assertEquals([bare.manifest, digestCapsule(bare)], [undefined, { capsule: own, component: own }]);
    Deno.mkdirSync(`${dir}/empty`);
    Deno.writeTextFileSync(`${dir}/other.jsonc`, "{}");
    assertEquals((await refusal(`${dir}/none`)).code, "capsule.not_found");
    assertEquals((await refusal(`${dir}/empty`)).code, "manifest.not_found");
    assertEquals((await refusal(`${dir}/other.jsonc`)).code, "capsule.bad_file");
  });
});

Deno.test("digestCapsule: the component's own digest beside the folder's; one that does not count is refused", async () => {
  await inFolder(async (dir) => {
    writeManifest(`${dir}/c`, "bin/a.wasm");
    for (const place of ["bin", ".git"]) {
      Deno.mkdirSync(`${dir}/c/${place}`);
      Deno.writeTextFileSync(`${dir}/c/${place}/a.wasm`, "\0asm");
    }
    const capsule = commandOf(await loadCapsule(`${dir}/c`));
    assertEquals(digestCapsule(capsule), {
      capsule: digestFolder(capsule.root),
      component: digestFile(capsule.componentPath),
    });
    const moved = { ...capsule, componentPath: `${capsule.root}/.git/a.wasm` };
    assertEquals(assertThrows(() => digestCapsule(moved), CapsuleError).code, "capsule.bad_file");
  });
});

Deno.test("digestCapsule: a manifest that was replaced since it was read is refused, the same bytes anew are not", async () => {
  await inFolder(async (dir) => {
    writeManifest(`${dir}/c`, "a.wasm");
    Deno.writeTextFileSync(`${dir}/c/a.wasm`, "\0asm");
    const capsule = await loadCapsule(`${dir}/c`);
    const { capsule: digest } = digestCapsule(capsule);
    const text = Deno.readTextFileSync(`${dir}/c/capsule.jsonc`);
    Deno.writeTextFileSync(`${dir}/c/capsule.jsonc`, `${text} `);
    assertEquals(assertThrows(() => digestCapsule(capsule), CapsuleError).code, "capsule.bad_file");
    Deno.removeSync(`${dir}/c/capsule.jsonc`);
    assertEquals(assertThrows(() => digestCapsule(capsule), CapsuleError).code, "capsule.bad_file");
    Deno.writeTextFileSync(`${dir}/c/capsule.jsonc`, text);
    assertEquals(digestCapsule(capsule).capsule, digest);
  });
});

Deno.test("loadCapsule: the component resolves inside the folder, or is refused with its place", async () => {
  await inFolder(async (dir) => {
    Deno.writeTextFileSync(`${dir}/outside.wasm`, "\0asm");
    writeManifest(`${dir}/c`, "sub/a.wasm");
    Deno.mkdirSync(`${dir}/c/real`);
    Deno.writeTextFileSync(`${dir}/c/real/a.wasm`, "\0asm");
    Deno.symlinkSync("real", `${dir}/c/sub`);
    assertEquals((await loadCapsule(`${dir}/c`)).componentPath, `${dir}/c/real/a.wasm`);
    Deno.removeSync(`${dir}/c/sub`);
    Deno.symlinkSync("..", `${dir}/c/sub`);
    Deno.renameSync(`${dir}/outside.wasm`, `${dir}/a.wasm`);
    const escape = await refusal(`${dir}/c`);
    assertEquals(escape.code, "capsule.bad_file");
    assert(
      /capsule\.jsonc:1:\d+: component: .* leads out of the capsule's folder$/.test(escape.message),
      escape.message,
    );
    Deno.removeSync(`${dir}/c/sub`);
    assert((await refusal(`${dir}/c`)).message.includes("build it first"));
    Deno.mkdirSync(`${dir}/c/sub/a.wasm`, { recursive: true });
    assert((await refusal(`${dir}/c`)).message.includes("wanted a regular file"));
  });
});

Deno.test("loadCapsule: a manifest that is a link, a FIFO, too large or not UTF-8 is refused", async () => {
  await inFolder(async (dir) => {
    writeManifest(`${dir}/c`, "a.wasm");
    Deno.writeTextFileSync(`${dir}/c/a.wasm`, "\0asm");
    const path = `${dir}/c/capsule.jsonc`;
    const whole = Deno.readTextFileSync(path);
    Deno.writeTextFileSync(path, whole + " ".repeat(1024 * 1024 - whole.length));
    await loadCapsule(`${dir}/c`);
    Deno.writeTextFileSync(path, whole + " ".repeat(1024 * 1024 + 1 - whole.length));
    assertEquals((await refusal(`${dir}/c`)).code, "manifest.unreadable");
    Deno.writeFileSync(path, new Uint8Array([0x7b, 0x0a, 0xff, 0x0a, 0x7d]));
    assert((await refusal(`${dir}/c`)).message.endsWith("capsule.jsonc:2:1: found bytes that are not UTF-8"));
    Deno.renameSync(path, `${dir}/elsewhere.jsonc`);
    Deno.symlinkSync("../elsewhere.jsonc", path);
    assert((await refusal(`${dir}/c`)).message.endsWith("found a link, wanted a regular file"));
    Deno.removeSync(path);
    new Deno.Command("mkfifo", { args: [path] }).outputSync();
    assert((await refusal(`${dir}/c`)).message.endsWith("found something that is no regular file"));
  });
});

function writeAgent(dir: string, rest: Record<string, unknown>): void {
  Deno.mkdirSync(dir, { recursive: true });
  const whole = { name: "a", version: "1.0.0", ...rest };
  Deno.writeTextFileSync(`${dir}/capsule.jsonc`, JSON.stringify(whole));
}

Deno.test("loadCapsule: an agent's tools, skills, prompt and playbook, each digested; no command", async () => {
  await inFolder(async (dir) => {
    const root = `${dir}/c`;
    writeAgent(root, {
      inference: { dialect: "scripted", uri: "play.json", system_prompt_file: "prompts/system.md" },
      tools: [{ name: "list", component: "list.wasm", grants: { net: [] } }, { name: "t", component: "list.wasm" }],
      skills: [{ name: "style", description: "How we write.", file: "style.md" }],
    });
    Deno.mkdirSync(`${root}/prompts`);
    for (const name of ["play.json", "prompts/system.md", "style.md", "list.wasm"]) {
      Deno.writeTextFileSync(`${root}/${name}`, name);
    }
    const capsule = await loadCapsule(root);
    if (!isAgent(capsule)) throw new Error("it is an agent");
    assertEquals([capsule.systemPrompt, capsule.playbook], ["prompts/system.md", "play.json"]);
    assertEquals(capsule.tools, [
      { name: "list", componentPath: `${root}/list.wasm`, grants: { net: [] } },
      { name: "t", componentPath: `${root}/list.wasm` },
    ]);
    assertEquals(capsule.skills, [{ name: "style", description: "How we write.", path: `${root}/style.md` }]);
    assertEquals(capsule.manifest.inference.max_turns, 10);
    const component = digestFile(`${root}/list.wasm`);
    assertEquals(digestCapsule(capsule), {
      capsule: digestFolder(root),
      tools: { list: component, t: component },
      skills: { style: digestFile(`${root}/style.md`) },
    });
    assertEquals(assertThrows(() => commandOf(capsule), CapsuleError).code, "capsule.is_agent");
    for (const name of ["play.json", "prompts/system.md", "style.md"]) {
      Deno.writeTextFileSync(`${root}/${name}`, "another");
      const error = assertThrows(() => digestCapsule(capsule), CapsuleError, "changed since it was read");
      assert(error.message.includes(name), error.message);
      Deno.writeTextFileSync(`${root}/${name}`, name);
    }
  });
});

Deno.test("loadCapsule: what an agent names is there, inside its folder, text, and of at most 1 MiB", async () => {
  await inFolder(async (dir) => {
    const root = `${dir}/c`;
    const path = `${root}/s.md`;
    writeAgent(root, { inference: { system_prompt_file: "s.md" } });
    assert((await refusal(root)).message.includes("inference.system_prompt_file: found"), "none");
    Deno.writeTextFileSync(path, "x".repeat(1024 * 1024));
    await loadCapsule(root);
    Deno.writeTextFileSync(path, "x".repeat(1024 * 1024 + 1));
    assertEquals((await refusal(root)).code, "capsule.bad_file");
    Deno.writeFileSync(path, new Uint8Array([0xff]));
    assert((await refusal(root)).message.endsWith("found bytes that are not UTF-8"));
    Deno.removeSync(path);
    Deno.writeTextFileSync(`${dir}/outside.md`, "x");
    Deno.symlinkSync("../outside.md", path);
    assert((await refusal(root)).message.includes("leads out of the capsule's folder"));
    writeAgent(root, { inference: {}, tools: [{ name: "t", component: "t.wasm" }] });
    assert((await refusal(root)).message.includes("tools[0].component: found"), "no tool");
    writeAgent(root, { inference: {}, skills: [{ name: "s", description: "d", file: "s.md" }] });
    assert((await refusal(root)).message.includes("skills[0].file: found"), "a skill outside");
  });
});
