import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { loadCapsule } from "./capsule.ts";
import { openTrust } from "./trust.ts";
import { findUpstream } from "./upstream.ts";
import { findWorkspaces, readWorkspace } from "./workspace.ts";

async function inFolder(body: (dir: string) => Promise<void>): Promise<void> {
  const dir = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    Deno.mkdirSync(`${dir}/home`);
    for (const folder of ["capsules/own", "other/own", "capsules/deep/own"]) {
      Deno.mkdirSync(`${dir}/project/${folder}`, { recursive: true });
      Deno.writeTextFileSync(`${dir}/project/${folder}/a.wasm`, "\0asm");
      Deno.writeTextFileSync(
        `${dir}/project/${folder}/capsule.jsonc`,
        `{ "name": "own", "version": "1.0.0", "component": "a.wasm" }`,
      );
    }
    Deno.writeTextFileSync(`${dir}/project/boll.jsonc`, "{}");
    await body(dir);
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
}

Deno.test("isOwn: needs a matching glob of a boll.jsonc whose path and digest are trusted", async () => {
  await inFolder(async (dir) => {
    const trust = openTrust(`${dir}/home`);
    const own = await loadCapsule(`${dir}/project/capsules/own`);
    const workspaces = await findWorkspaces(own.root);
    assertEquals(workspaces.map((one) => one.root), [`${dir}/project`]);
    assert(!trust.isOwn(own, workspaces), "a clone is foreign until its boll.jsonc is trusted");
    trust.trustWorkspace(workspaces[0]!);
    assert(trust.isOwn(own, workspaces));
    for (const folder of ["other/own", "capsules/deep/own"]) {
      assert(!trust.isOwn(await loadCapsule(`${dir}/project/${folder}`), workspaces), folder);
    }
    assert(!trust.isOwn(await loadCapsule(`${dir}/project/capsules/own/a.wasm`), workspaces), "a bare component");
    Deno.writeTextFileSync(`${dir}/project/boll.jsonc`, `{ "capsules": ["**"] }`);
    const changed = await findWorkspaces(own.root);
    assert(!trust.isOwn(own, changed), "a changed digest asks again");
    trust.trustWorkspace(changed[0]!);
    assert(trust.isOwn(await loadCapsule(`${dir}/project/other/own`), changed));
    assertEquals(trust.trustedWorkspaces().length, 1);
  });
});

Deno.test("findWorkspaces: a nearer boll.jsonc never hides a farther one, and a damaged one is not skipped", async () => {
  await inFolder(async (dir) => {
    Deno.writeTextFileSync(`${dir}/project/capsules/own/boll.jsonc`, `{ "capsules": ["."] }`);
    const own = await loadCapsule(`${dir}/project/capsules/own`);
    const roots = (await findWorkspaces(own.root)).map((one) => one.root);
    assertEquals(roots, [`${dir}/project/capsules/own`, `${dir}/project`]);
    const trust = openTrust(`${dir}/home`);
    trust.trustWorkspace(await readWorkspace(`${dir}/project/boll.jsonc`));
    assert(trust.isOwn(own, await findWorkspaces(own.root)), "the trusted one says so");
    Deno.writeTextFileSync(`${dir}/project/boll.jsonc`, `{ "ceiling": `);
    assertEquals((await assertRejects(() => findWorkspaces(own.root), CapsuleError)).code, "workspace.invalid");
  });
});

Deno.test("accept: consent is kept by digest in a file of mode 0600, and a changed capsule asks again", async () => {
  await inFolder(async (dir) => {
    const trust = openTrust(`${dir}/home`);
    const [one, other] = [`sha256:${"1".repeat(64)}`, `sha256:${"2".repeat(64)}`];
    assert(!trust.isAccepted(one));
    trust.accept(one);
    trust.trustWorkspace(await readWorkspace(`${dir}/project/boll.jsonc`));
    assert(openTrust(`${dir}/home`).isAccepted(one) && !trust.isAccepted(other));
    assertEquals(Deno.statSync(`${dir}/home/trust.json`).mode! & 0o777, 0o600);
    assertThrows(() => trust.accept("sha256:short"), TypeError);
  });
});

Deno.test("openTrust: a file that others may write, a link, or damage is refused, never read as empty", async () => {
  await inFolder(async (dir) => {
    await Promise.resolve();
    const path = `${dir}/home/trust.json`;
    const digest = `sha256:${"1".repeat(64)}`;
    openTrust(`${dir}/home`).accept(digest);
    const refused = () => assertThrows(() => openTrust(`${dir}/home`).isAccepted(digest), CapsuleError).code;
    Deno.chmodSync(path, 0o622);
    assertEquals(refused(), "trust.unreadable");
    Deno.chmodSync(path, 0o600);
    assert(openTrust(`${dir}/home`).isAccepted(digest));
    // Only root can give a file away.
    if (Deno.uid() === 0) {
      Deno.chownSync(path, 65_534, 65_534);
      assertEquals(refused(), "trust.unreadable");
      Deno.chownSync(path, 0, 0);
    }
    for (const text of ["", "{}", "[]", `{"version":2}`, `{"version":1,"workspaces":[{}],"capsules":[]}`]) {
      Deno.writeTextFileSync(path, text);
      assertEquals(refused(), "trust.unreadable", text);
    }
    const newer = `{"version":2,"consents":[]}`;
    Deno.writeTextFileSync(path, newer);
    const told = assertThrows(() => openTrust(`${dir}/home`).accept(digest), CapsuleError).message;
    assertStringIncludes(told, "found version 2, wanted 1: a newer boll wrote it; use that one, or set BOLL_HOME");
    assertEquals(Deno.readTextFileSync(path), newer);
    Deno.renameSync(path, `${dir}/elsewhere`);
    Deno.symlinkSync(`${dir}/elsewhere`, path);
    assertEquals(refused(), "trust.unreadable");
  });
});

Deno.test("findUpstream: proxy and ca of the nearest trusted boll.jsonc that names them; a stranger's are ignored and told", async () => {
  await inFolder(async (dir) => {
    const near = `${dir}/project/capsules/own/boll.jsonc`;
    Deno.writeTextFileSync(`${dir}/project/boll.jsonc`, `{ "proxy": "http://far:1", "ca": "certs/ca.pem" }`);
    Deno.writeTextFileSync(near, `{ "proxy": "http://Near:2" }`);
    const trust = openTrust(`${dir}/home`);
    const workspaces = await findWorkspaces(`${dir}/project/capsules/own`);
    assertEquals(workspaces.map(({ proxy, ca }) => [proxy, ca]), [
      [{ host: "near", port: 2 }, undefined],
      [{ host: "far", port: 1 }, `${dir}/project/certs/ca.pem`],
    ]);
    const stranger = findUpstream(workspaces, trust);
    assertEquals([stranger.proxy, stranger.ca, stranger.warnings.length], [undefined, undefined, 2]);
    trust.trustWorkspace(workspaces[1]!);
    const far = findUpstream(workspaces, trust);
    assertEquals([far.proxy, far.ca], [{ host: "far", port: 1 }, `${dir}/project/certs/ca.pem`]);
    assertEquals(far.warnings, [`Ignored proxy and ca of ${near}: you have not trusted this file`]);
    trust.trustWorkspace(workspaces[0]!);
    const both = findUpstream(workspaces, trust);
    assertEquals([both.proxy, both.ca, both.warnings], [{ host: "near", port: 2 }, `${dir}/project/certs/ca.pem`, []]);
    Deno.writeTextFileSync(near, `{ "proxy": "http://evil:2" }`);
    const changed = findUpstream(await findWorkspaces(`${dir}/project/capsules/own`), trust);
    assertEquals(changed.proxy, { host: "far", port: 1 }, "a changed digest counts no more");
  });
});

Deno.test("Trust.accept: consents given by several processes at once are all kept", async () => {
  const home = Deno.makeTempDirSync();
  try {
    const digests = Array.from({ length: 8 }, (_, i) => `sha256:${String(i).repeat(64)}`);
    const fixture = new URL("./trust_fixture.ts", import.meta.url).href;
    const exits = digests.map((digest) =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--quiet", "--no-check", fixture, home, digest],
        stdout: "null",
        stderr: "null",
      }).output()
    );
    assertEquals((await Promise.all(exits)).map(({ code }) => code), digests.map(() => 0));
    const trust = openTrust(home);
    assertEquals(digests.filter((digest) => !trust.isAccepted(digest)), []);
  } finally {
    Deno.removeSync(home, { recursive: true });
  }
});
