import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { makeTemporaryFolder, MAX_RUNTIME_PATH_BYTES, runtimeFolder } from "../mod.ts";

const runtimeDir = (path: string | undefined) => (name: string) => name === "XDG_RUNTIME_DIR" ? path : undefined;
const FALLBACK = `/tmp/boll-${Deno.uid()}`;

function withFolder(run: (folder: string) => void): void {
  const folder = Deno.makeTempDirSync({ dir: "/tmp", prefix: "b" });
  try {
    run(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("runtimeFolder: below XDG_RUNTIME_DIR when it is ours, else the fallback", () =>
  withFolder((folder) => {
    assertEquals(runtimeFolder(runtimeDir(folder)), `${folder}/boll`);
    assertEquals(Deno.lstatSync(`${folder}/boll`).mode! & 0o777, 0o700);
    for (const unusable of [undefined, "", "relative", `${folder}/absent`, `${folder}/${"x".repeat(80)}`]) {
      assertEquals(runtimeFolder(runtimeDir(unusable)), FALLBACK);
    }
    Deno.chmodSync(folder, 0o777);
    assertEquals(runtimeFolder(runtimeDir(folder)), FALLBACK);
  }));

Deno.test("runtimeFolder: a planted link or an open folder is not used", () =>
  withFolder((folder) => {
    Deno.symlinkSync("/tmp", `${folder}/boll`);
    assertEquals(runtimeFolder(runtimeDir(folder)), FALLBACK);
    Deno.removeSync(`${folder}/boll`);
    Deno.mkdirSync(`${folder}/boll`);
    Deno.chmodSync(`${folder}/boll`, 0o777);
    assertEquals(runtimeFolder(runtimeDir(folder)), FALLBACK);
    Deno.chmodSync(`${folder}/boll`, 0o700);
    assertEquals(runtimeFolder(runtimeDir(folder)), `${folder}/boll`);
  }));

Deno.test("makeTemporaryFolder: fresh, 0700, short enough for a socket, gone with all below", () =>
  withFolder((folder) => {
    const first = makeTemporaryFolder(runtimeFolder(runtimeDir(folder)));
    const second = makeTemporaryFolder(runtimeFolder(runtimeDir(folder)));
    assertNotEquals(first.path, second.path);
    assertEquals(Deno.lstatSync(first.path).mode! & 0o777, 0o700);
    assert(new TextEncoder().encode(first.path).length <= MAX_RUNTIME_PATH_BYTES);
    Deno.writeTextFileSync(`${first.path}/n`, "nonce");
    Deno.symlinkSync(second.path, `${first.path}/link`);
    first.remove();
    first.remove();
    assertThrows(() => Deno.lstatSync(first.path), Deno.errors.NotFound);
    assert(Deno.lstatSync(second.path).isDirectory);
    second.remove();
  }));
