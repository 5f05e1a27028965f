import { assertEquals, assertNotEquals } from "@std/assert";
import { buildCapsules } from "./build.ts";

const HERE = import.meta.dirname!;

/** A copy of one sample with all that it is built from. */
function copySample(): { folder: string; stamps: string; component: string } {
  const root = Deno.makeTempDirSync({ prefix: "boll-test-" });
  for (const path of ["build.ts", "wit", "wasi", "hello/src"]) copy(`${HERE}/${path}`, `${root}/capsules/${path}`);
  return { folder: `${root}/capsules`, stamps: `${root}/stamps`, component: `${root}/capsules/hello/hello.wasm` };
}

function copy(from: string, to: string): void {
  Deno.mkdirSync(to.slice(0, to.lastIndexOf("/")), { recursive: true });
  if (Deno.statSync(from).isFile) return Deno.copyFileSync(from, to);
  for (const { name } of Deno.readDirSync(from)) copy(`${from}/${name}`, `${to}/${name}`);
}

Deno.test("buildCapsules: builds what is missing or changed, leaves alone what is up to date", async () => {
  const { folder, stamps, component } = copySample();
  try {
    await buildCapsules(folder, stamps);
    const first = Deno.statSync(component);
    await buildCapsules(folder, stamps);
    assertEquals(Deno.statSync(component).ino, first.ino);
    Deno.writeTextFileSync(`${folder}/hello/src/main.js`, "\n", { append: true });
    await buildCapsules(folder, stamps);
    assertNotEquals(Deno.statSync(component).ino, first.ino);
    Deno.removeSync(component);
    await buildCapsules(folder, stamps);
    assertEquals(Deno.statSync(component).isFile, true);
  } finally {
    Deno.removeSync(`${folder}/..`, { recursive: true });
  }
});

Deno.test("buildCapsules: two at once leave one whole component and nothing else", async () => {
  const { folder, stamps, component } = copySample();
  try {
    await Promise.all([buildCapsules(folder, stamps), buildCapsules(folder, stamps)]);
    assertEquals([...Deno.readFileSync(component).slice(0, 8)], [0, 0x61, 0x73, 0x6d, 13, 0, 1, 0]);
    assertEquals([...Deno.readDirSync(`${folder}/hello`)].map((entry) => entry.name).sort(), ["hello.wasm", "src"]);
    assertEquals([...Deno.readDirSync(stamps)].map((entry) => entry.name), ["hello.sha256"]);
  } finally {
    Deno.removeSync(`${folder}/..`, { recursive: true });
  }
});
