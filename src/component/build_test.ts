import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { componentize } from "componentize-qjs";
import { CapsuleError, type ErrorCode } from "../base/mod.ts";
import { buildComponent, MAX_COMPONENT_BYTES } from "./build.ts";
import { buildSample, cacheSample, commandText, COMPONENT_HEAD, encodeText, inFolder } from "./component_fixture.ts";
import { findRun, findRunName, instantiate, loadCached, MemoryWatch } from "./mod.ts";

async function assertRefused(sample: string | Uint8Array, code: ErrorCode, words: string): Promise<void> {
  const error = await assertRejects(() => buildSample(sample), CapsuleError);
  assertEquals(error.code, code, error.message);
  assertStringIncludes(error.message, words);
}

const PRINTER = `(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\\08\\00\\00\\00\\03\\00\\00\\00hi\\n")
  (func (export "_start") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 40)))))`;

/** The host of a preview1 command, as far as it writes to stdout. */
function printerHost(said: string[]) {
  class InputStream {}
  class OutputStream {
    checkWrite(): bigint {
      return 4096n;
    }
    write(bytes: Uint8Array): void {
      said.push(new TextDecoder().decode(bytes));
    }
    blockingWriteAndFlush(bytes: Uint8Array): void {
      this.write(bytes);
    }
    blockingFlush(): void {}
  }
  class Descriptor {}
  return {
    "wasi:cli/stdin": { getStdin: () => new InputStream() },
    "wasi:cli/stdout": { getStdout: () => new OutputStream() },
    "wasi:cli/stderr": { getStderr: () => new OutputStream() },
    "wasi:io/error": { Error: class {} },
    "wasi:io/streams": { InputStream, OutputStream },
    "wasi:filesystem/preopens": { getDirectories: () => [] },
    "wasi:filesystem/types": { Descriptor, filesystemErrorCode: () => undefined },
  };
}

/** How many imports the glue keeps account of, call by call. */
function accountsIn(glue: string): { plain: number; suspending: number } {
  const count = (text: string) => glue.split(text).length - 1;
  const suspending = count(".manuallyAsync = true;");
  return { plain: count("_trackHostOperation(() => ") - suspending, suspending };
}

/** The glue of a suspending component leaves short timers behind; waits until each has fired. */
function trackTimers(): Disposable & { fired(): Promise<void> } {
  const original = globalThis.setTimeout;
  const pending = new Set<Promise<void>>();
  globalThis.setTimeout = ((run: () => unknown, delayMs?: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    pending.add(promise);
    return original(async () => {
      await run();
      pending.delete(promise);
      resolve();
    }, delayMs);
  }) as typeof setTimeout;
  return {
    async fired() {
      while (pending.size > 0) await Promise.all(pending);
    },
    [Symbol.dispose]() {
      globalThis.setTimeout = original;
    },
  };
}

Deno.test("buildComponent: what is no component is refused by its own name, a command builds", async () => {
  await assertRefused(new Uint8Array(), "component.not_wasm", "first bytes: none");
  await assertRefused(new TextEncoder().encode("#!/bin/sh\n"), "component.not_wasm", "23 21 2f 62");
  await assertRefused(COMPONENT_HEAD.with(4, 0x0a), "component.unsupported", "0a 00 01 00");
  await assertRefused("(module)", "component.core_module", "wasm32-wasip2");
  await assertRefused('(module (func (export "_initialize")))', "component.core_module", "exports no _start");
  await assertRefused('(module (memory 1) (func (export "_start")))', "component.core_module", "exports no memory");
  const foreign = '(module (import "env" "f" (func)) (func (export "_start")))';
  await assertRefused(foreign, "component.core_module", 'imports "env"');
  await assertRefused(
    new Uint8Array(MAX_COMPONENT_BYTES + 1),
    "component.too_large",
    `${MAX_COMPONENT_BYTES + 1} bytes`,
  );
  const whole = await encodeText(commandText());
  await assertRefused(whole.subarray(0, whole.length - 9), "component.invalid", "at byte");
  assertEquals((await buildSample(whole)).description.kind, "component");
});

Deno.test("buildComponent: a preview1 command is adapted, runs and prints", async () => {
  await inFolder(async (folder) => {
    const cached = await cacheSample(folder, PRINTER);
    assertEquals(cached.description.kind, "adapted");
    const loaded = loadCached(cached);
    assertEquals(accountsIn(loaded.glueSource), { plain: 0, suspending: 0 });
    const said: string[] = [];
    const watch = new MemoryWatch(cached.description.memories);
    await findRun(
      await instantiate(loaded, printerHost(said), { onInstance: (...told) => watch.observe(...told) }),
    )!();
    assertEquals(said.join(""), "hi\n");
    assert(watch.fullness() > 0 && watch.fullness() < 0.1, `${watch.fullness()}`);
  });
});

Deno.test("buildComponent: imports and exports stand in the description as written, and the WIT with them", async () => {
  const before =
    `(import "wasi:cli/environment@0.2.0" (instance (export "initial-cwd" (func (result (option string))))))
    (import "a:b/c@1.2.3-rc.1" (instance)) (import "plain" (func))`;
  const { description } = await buildSample(commandText({ before }));
  assertEquals(description.imports, ["wasi:cli/environment@0.2.0", "a:b/c@1.2.3-rc.1", "plain"]);
  assertEquals(description.exports, ["wasi:cli/run@0.2.3"]);
  assertStringIncludes(description.wit, "import wasi:cli/environment@0.2.0;");
  assertEquals(findRunName(description.exports), "wasi:cli/run@0.2.3");
  assertEquals(findRunName(["wasi:cli/run@0.3.0", "run", "a:b/run"]), undefined);
});

Deno.test("buildComponent: only WASI 0.2.x, and no export that would be taken for a promise", async () => {
  for (const version of ["@0.2.0-rc-2023-11-10", "@0.3.0", "@0.1.0", ""]) {
    const name = `wasi:cli/environment${version}`;
    await assertRefused(commandText({ before: `(import "${name}" (instance))` }), "component.unsupported", name);
  }
  const then = `(component (core module $m (func (export "f"))) (core instance $i (instantiate $m))
    (func $f (canon lift (core func $i "f"))) (export "NAME" (func $f)))`;
  await assertRefused(then.replace("NAME", "then"), "component.unsupported", '"then"');
  assertEquals((await buildSample(then.replace("NAME", "than"))).description.exports, ["than"]);
});

Deno.test("buildComponent: a core module that does not validate is refused, its valid twin builds", async () => {
  await assertRefused(commandText({ body: "i64.const 0" }), "component.invalid", "does not validate");
  await assertRefused('(module (func (export "_start") i32.const 0))', "component.invalid", "does not validate");
  assertEquals((await buildSample(commandText({ body: "i32.const 0" }))).modules.length, 1);
});

Deno.test("buildComponent: garbage-collected types, of no memory cap, are refused", async () => {
  await assertRefused(commandText({ core: "(type (array (mut i8)))" }), "component.unsupported", "garbage-collected");
});

Deno.test("buildComponent: refuses to write over a file of the staging folder", async () => {
  await inFolder(async (folder) => {
    const bytes = await encodeText(commandText());
    await buildComponent(bytes, folder, { memoryMb: 1 });
    await assertRejects(() => buildComponent(bytes, folder, { memoryMb: 1 }), Deno.errors.AlreadyExists);
  });
});

Deno.test("run: ok resolves, err throws, a trap and an exhausted stack throw", async () => {
  const outcome = (sample: string) =>
    inFolder(async (folder) => {
      const exports = await instantiate(loadCached(await cacheSample(folder, sample)), {});
      return await findRun(exports)!().then(() => "ok", (error: Error) => error.name);
    });
  assertEquals(await outcome(commandText({ version: "0.2.0" })), "ok");
  assertEquals(await outcome(commandText({ body: "i32.const 1" })), "Error");
  assertEquals(await outcome(commandText({ body: "unreachable" })), "RuntimeError");
  const recursive = commandText({ core: "(func $f (result i32) (i32.add (call $f) (call $f)))", body: "call $f" });
  assertEquals(await outcome(recursive), "RangeError");
});

Deno.test("instantiate: one unversioned host object serves every 0.2.x at once", async () => {
  const before = ["0.2.0", "0.2.3", "0.2.12"].map((version, index) =>
    `(import "wasi:random/random@${version}" (instance $i${index} (export "get-random-u64" (func (result u64)))))
     (core func $f${index} (canon lower (func $i${index} "get-random-u64")))`
  ).join("\n");
  const core = [0, 1, 2].map((index) => `(import "host" "f${index}" (func $f${index} (result i64)))`).join(" ");
  const args = `(with "host" (instance ${[0, 1, 2].map((n) => `(export "f${n}" (func $f${n}))`).join(" ")}))`;
  const body = "(drop (call $f0)) (drop (call $f1)) (drop (call $f2)) i32.const 0";
  await inFolder(async (folder) => {
    const cached = await cacheSample(folder, commandText({ before, core, args, body }));
    let calls = 0;
    const host = { "wasi:random/random": { getRandomU64: () => BigInt(++calls) } };
    await findRun(await instantiate(loadCached(cached), host))!();
    assertEquals(calls, 3);
    await assertRejects(() => instantiate(loadCached(cached), {}), TypeError);
  });
});

Deno.test("instantiate: a poll that is a promise suspends the guest", async () => {
  const before = `
    (import "wasi:io/poll@0.2.0" (instance $p (export "pollable" (type (sub resource)))
      (export "[method]pollable.block" (func (param "self" (borrow 0))))))
    (alias export $p "pollable" (type $pollable))
    (import "wasi:clocks/monotonic-clock@0.2.0" (instance $c
      (alias outer 1 $pollable (type $pp)) (export "pollable" (type (eq $pp)))
      (export "subscribe-duration" (func (param "when" u64) (result (own 1))))))
    (core func $block (canon lower (func $p "[method]pollable.block")))
    (core func $subscribe (canon lower (func $c "subscribe-duration")))`;
  const core =
    `(import "h" "block" (func $block (param i32))) (import "h" "subscribe" (func $subscribe (param i64) (result i32)))`;
  const args = '(with "h" (instance (export "block" (func $block)) (export "subscribe" (func $subscribe))))';
  const body = "(call $block (call $subscribe (i64.const 7))) i32.const 0";
  await inFolder(async (folder) => {
    using timers = trackTimers();
    const blocked = Promise.withResolvers<void>();
    const wake = Promise.withResolvers<void>();
    let done = false;
    class Pollable {
      async block(): Promise<void> {
        blocked.resolve();
        await wake.promise;
      }
    }
    const exports = await instantiate(
      loadCached(await cacheSample(folder, commandText({ before, core, args, body }))),
      {
        "wasi:io/poll": { Pollable },
        "wasi:clocks/monotonic-clock": { subscribeDuration: () => new Pollable() },
      },
    );
    const running = findRun(exports)!().then(() => done = true);
    await blocked.promise;
    assertEquals(done, false);
    wake.resolve();
    await running;
    assertEquals(done, true);
    await timers.fired();
  });
});

Deno.test("instantiate: an instance that is stopped while it waits is never resumed, and its neighbour is", async () => {
  const before = `
    (import "wasi:io/poll@0.2.0" (instance $p (export "pollable" (type (sub resource)))
      (export "[method]pollable.block" (func (param "self" (borrow 0))))))
    (alias export $p "pollable" (type $pollable))
    (import "wasi:clocks/monotonic-clock@0.2.0" (instance $c
      (alias outer 1 $pollable (type $pp)) (export "pollable" (type (eq $pp)))
      (export "subscribe-duration" (func (param "when" u64) (result (own 1))))))
    (core func $block (canon lower (func $p "[method]pollable.block")))
    (core func $subscribe (canon lower (func $c "subscribe-duration")))`;
  const core =
    `(import "h" "block" (func $block (param i32))) (import "h" "subscribe" (func $subscribe (param i64) (result i32)))`;
  const args = '(with "h" (instance (export "block" (func $block)) (export "subscribe" (func $subscribe))))';
  const body = "(call $block (call $subscribe (i64.const 7))) i32.const 0";
  await inFolder(async (folder) => {
    using timers = trackTimers();
    const wake = Promise.withResolvers<void>();
    class Pollable {
      async block(): Promise<void> {
        await wake.promise;
      }
    }
    const loaded = loadCached(await cacheSample(folder, commandText({ before, core, args, body })));
    assertEquals(accountsIn(loaded.glueSource), { plain: 0, suspending: 1 });
    const host = {
      "wasi:io/poll": { Pollable },
      "wasi:clocks/monotonic-clock": { subscribeDuration: () => new Pollable() },
    };
    let isStopped = false;
    let resumed = 0;
    const stopped = findRun(await instantiate(loaded, host, { isStopped: () => isStopped }))!();
    stopped.then(() => resumed++);
    const neighbour = findRun(await instantiate(loaded, host, { isStopped: () => false }))!();
    isStopped = true;
    wake.resolve();
    await neighbour;
    await timers.fired();
    assertEquals(resumed, 0);
  });
});

Deno.test("buildComponent: a JavaScript guest, made of several modules and memories, is described and capped", async () => {
  const wit = `package a:b; world hello { export wasi:cli/run@0.2.3; }
    package wasi:cli@0.2.3 { interface run { run: func() -> result; } }`;
  await inFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/hello.wit`, wit);
    const jsSource = "export const run = { run() {} };";
    Deno.writeTextFileSync(`${folder}/hello.js`, jsSource);
    const { component } = await componentize({
      jsSource,
      jsPath: `${folder}/hello.js`,
      witPath: `${folder}/hello.wit`,
      world: "hello",
    });
    const { description, modules } = await buildSample(new Uint8Array(component), 64);
    assert(description.exports.includes("wasi:cli/run@0.2.3"), description.exports.join());
    assert(modules.length > 1 && description.memories.length > 1);
    const pages = description.memories.reduce((sum, { max_pages }) => sum + max_pages, 0);
    assert(pages <= 64 * 16, `${pages}`);
    const error = await assertRejects(() => buildSample(new Uint8Array(component), 1), CapsuleError);
    assertEquals(error.code, "component.memory_exceeds_cap");
  });
});
