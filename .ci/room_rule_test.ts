import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import plugin from "./room_rule.ts";
import { ROOMS, SIDE_DOORS } from "./rooms.ts";

/** `rule: message` of each finding in a file of that path and text. */
function lint(path: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, path, source).map(({ id, message }) => `${id}: ${message}`);
}

function assertAllowed(path: string, source: string): void {
  assertEquals(lint(path, source), [], `${path}: ${source}`);
}

function assertRefused(path: string, source: string, rule: string, includes: string): void {
  const found = lint(path, source);
  assertEquals(found.length, 1, `${path}: ${source}: ${found.join("; ")}`);
  assertStringIncludes(found[0]!, `boll/${rule}: `);
  assertStringIncludes(found[0]!, includes);
}

Deno.test("room-imports lets each room import exactly what the table says, by mod.ts", () => {
  for (const [room, allowed] of Object.entries(ROOMS)) {
    for (const target of Object.keys(ROOMS)) {
      const source = `import { a } from "../${target}/mod.ts"; a();`;
      if (target === room || allowed.includes(target)) assertAllowed(`src/${room}/x.ts`, source);
      else assertRefused(`src/${room}/x.ts`, source, "room-imports", `found src/${target}/`);
    }
  }
});

Deno.test("the table of rooms has no cycle, and cli/ may import all but agent/, guest/ and wasi/", () => {
  const reachable = (room: string): string[] => ROOMS[room]!.flatMap((next) => [next, ...reachable(next)]);
  for (const room of Object.keys(ROOMS)) assert(!reachable(room).includes(room), room);
  assertEquals(
    [...ROOMS.cli!].sort(),
    Object.keys(ROOMS).filter((r) => !["agent", "cli", "guest", "wasi"].includes(r)).sort(),
  );
});

Deno.test("room-imports sees every form of import, and a room's inside stays its own", () => {
  assertAllowed("src/cli/x.ts", `import { a } from "./y.ts"; a();`);
  for (
    const source of [
      `import "../hull/seccomp.ts";`,
      `import type { A } from "../hull/seccomp.ts"; export type B = A;`,
      `export * from "../hull/seccomp.ts";`,
      `export { a } from "../hull/seccomp.ts";`,
      `await import("../hull/seccomp.ts");`,
      `export type A = import("../hull/seccomp.ts").A;`,
    ]
  ) {
    assertRefused("src/cli/x.ts", source, "room-imports", "wanted src/hull/mod.ts");
  }
});

Deno.test("room-imports opens a side door to the rooms that the table names and to no other", () => {
  for (const [door, rooms] of Object.entries(SIDE_DOORS)) {
    const [, owner] = door.split("/");
    for (const room of Object.keys(ROOMS)) {
      const source = `import "../${door.slice("src/".length)}";`;
      if (room === owner || rooms.includes(room)) assertAllowed(`src/${room}/x.ts`, source);
      else assertRefused(`src/${room}/x.ts`, source, "room-imports", `found `);
    }
    for (const room of rooms) assert(ROOMS[room]!.includes(owner!), `${room} may not enter ${owner}`);
  }
  assertRefused("src/guest/x.ts", `import "../protocol/control/mod.ts";`, "room-imports", "wanted src/protocol/mod.ts");
  assertRefused("src/cli/x.ts", `import "../protocol/control/turn.ts";`, "room-imports", "wanted src/protocol/mod.ts");
});

Deno.test("room-imports refuses a computed import(), std by path, and files outside src/", () => {
  assertAllowed("src/cli/x.ts", `import { join } from "@std/path"; await import("./y.ts"); join();`);
  assertRefused("src/cli/x.ts", `await import("./y" + z);`, "room-imports", "a computed name");
  assertRefused("src/cli/x.ts", `import "../std/path.ts";`, "room-imports", "wanted the name @std/…");
  assertRefused("src/cli/x.ts", `import "deno-std/path/mod.js";`, "room-imports", "wanted the name @std/…");
  assertAllowed("src/std/path.ts", `export { join } from "deno-std/path/mod.js";`);
  assertRefused("src/cli/x.ts", `import "../../.ci/build.ts";`, "room-imports", "wanted a room in src/");
  assertRefused("src/cli/x.ts", `import "./y_fixture.ts";`, "room-imports", "nothing that only tests use");
});

Deno.test("room-imports lets main.ts load role entries by import() and nothing else, and no other room load them", () => {
  assertAllowed("main.ts", `await import("./src/guest/cell_main.ts"); await import("./src/cli/main.ts");`);
  assertRefused("main.ts", `import "./src/cli/main.ts";`, "room-imports", "a role entry");
  assertRefused("main.ts", `await import("./src/cli/run.ts");`, "room-imports", "a role entry");
  assertAllowed("src/guest/cell_main.ts", `await import("./build_main.ts");`);
  assertRefused("src/session/x.ts", `await import("../guest/cell_main.ts");`, "room-imports", "found src/guest/");
});

Deno.test("room-imports keeps capsules/ apart from the source, and leaves tests and the workshop free", () => {
  assertAllowed("capsules/hello/hello.js", `import "wasi:cli/stdout@0.2.0"; import "../words.js";`);
  assertRefused("capsules/hello/hello.js", `import "../../src/base/mod.ts";`, "room-imports", "outside capsules/");
  assertAllowed("src/base/x_test.ts", `import "../cli/main.ts"; import "fast-check";`);
  assertAllowed("tests/run_test.ts", `import "../src/hull/seccomp.ts"; await import(name);`);
  assertAllowed(".ci/build.ts", `import "esbuild";`);
});

Deno.test("room-imports keeps packages of the workshop and modules that start code out of the rooms", () => {
  assertAllowed("src/component/x.ts", `import "node:vm"; import "node:crypto"; import "zod/mini";`);
  assertRefused("src/guest/x.ts", `import "node:vm";`, "room-imports", "in src/component/ alone");
  for (const name of ["node:child_process", "node:worker_threads", "esbuild", "@bytecodealliance/jco/component"]) {
    assertRefused("src/component/x.ts", `import "${name}";`, "room-imports", "nowhere in src/");
  }
});

Deno.test("room-names refuses names that say nothing and files outside a room", () => {
  assertAllowed("src/base/errors.ts", "");
  assertAllowed("src/std/path.ts", "");
  assertAllowed("tests/harness.ts", "");
  for (const path of ["src/base/utils.ts", "src/cli/common/x.ts", "tests/helpers.ts", "src/wasi/types_test.ts"]) {
    assertRefused(path, "", "room-names", "wanted the name of what it holds");
  }
  assertRefused("src/errors.ts", "", "room-names", "in a room of src/");
  assertRefused("src/attic/x.ts", "", "room-names", "in a room of src/");
});

Deno.test("sharp-tools keeps evaluation, FFI, processes and workers each in one room", () => {
  assertAllowed("src/component/x.ts", `new Function("return 1");`);
  assertRefused("src/guest/x.ts", `new Function("return 1");`, "sharp-tools", "in src/component/ alone");
  assertRefused("src/guest/x.ts", `Function("return 1");`, "sharp-tools", "in src/component/ alone");
  assertRefused("src/component/x.ts", `eval("1");`, "sharp-tools", "nowhere in src/");
  assertRefused("src/component/x.ts", `globalThis.eval("1");`, "sharp-tools", "nowhere in src/");
  assertAllowed("src/hull/x.ts", `Deno.dlopen("libc.so.6", {}); Deno.UnsafePointer.of(x);`);
  assertRefused("src/cli/x.ts", `Deno.dlopen("libc.so.6", {});`, "sharp-tools", "in src/hull/ alone");
  assertRefused("src/cli/x.ts", `Deno["dlopen"]("libc.so.6", {});`, "sharp-tools", "in src/hull/ alone");
  assertAllowed("src/supervisor/x.ts", `new Deno.Command("x");`);
  assertRefused("src/session/x.ts", `new Deno.Command("x");`, "sharp-tools", "in src/supervisor/ alone");
  assertAllowed("src/guest/x.ts", `new Worker(url);`);
  assertAllowed("src/agent/x.ts", `new Worker(url);`);
  assertRefused("main.ts", `new Worker(url);`, "sharp-tools", "in src/guest/ or src/agent/ alone");
  assertAllowed("src/hull/x_fixture.ts", `new Worker(url);`);
  assertAllowed("src/session/x_test.ts", `new Deno.Command("x"); new Function("1");`);
});

Deno.test("own-path refuses the pathname of a module's URL, which is no path in a folder with a space", () => {
  const before = `const beside = `;
  assertRefused("tests/x.ts", `${before}new URL("../a", import.meta.url).pathname;`, "own-path", "import.meta.dirname");
  assertRefused("src/cli/x.ts", `${before}new URL("a", import.meta.url).pathname;`, "own-path", "import.meta.dirname");
  for (const path of [`import.meta.dirname`, `new URL("a", import.meta.url)`, `new URL("http://a/b").pathname`]) {
    assertAllowed("src/cli/x.ts", before + path);
  }
});
