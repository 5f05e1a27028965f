import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Bed, fixture, forExecutable, forMode } from "../harness.ts";

/** What `--json` and the trace say of a run, which must agree. */
async function ending(bed: Bed, name: string, flags: string[] = []): Promise<[unknown, unknown, unknown]> {
  const result = await bed.guest(name, ["--json", ...flags]);
  assertEquals(result.json?.exit_code, result.code, result.stderr);
  const last = bed.trace().at(-1);
  assertEquals(last?.event, "session_end");
  assertEquals([last?.status, last?.exit_code, last?.ended_by], [
    result.json?.status,
    result.json?.exit_code,
    result.json?.ended_by,
  ], result.stderr);
  return [result.code, result.json?.status, result.json?.ended_by];
}

/** A capsule folder around a guest, with these limits. */
async function capsuleWith(bed: Bed, guest: string, limits: Record<string, number>): Promise<string> {
  const manifest = { name: "limited", version: "0.1.0", component: "guest.wasm", grants: { limits } };
  const folder = bed.folder("limited", { "capsule.jsonc": JSON.stringify(manifest) });
  Deno.copyFileSync(await fixture(guest), `${folder}/guest.wasm`);
  return folder;
}

forExecutable("run: a guest's own ending passes through", async (bed) => {
  assertEquals(await ending(bed, "ok"), [0, "completed", "guest"]);
  assertEquals(await ending(bed, "fail"), [1, "failed", "guest"]);
  assertEquals(await ending(bed, "exit3"), [3, "failed", "guest"]);
  assertEquals(await ending(bed, "exit3@0.2.0"), [3, "failed", "guest"]);
  assertEquals(await ending(bed, "exit_err@0.2.6"), [1, "failed", "guest"]);
});

forExecutable("run: boll's last line names the cause exactly when the exit code is boll's", async (bed) => {
  const own = await bed.guest("exit3");
  assertEquals([own.code, own.stderr], [3, ""]);
  const trapped = await bed.guest("trap");
  assertEquals(trapped.code, 1);
  assertMatch(trapped.lastLine, /^boll: the guest trapped/);
});

forExecutable("run: the object of --json is a line of its own, whatever the guest leaves on stderr", async (bed) => {
  const forge = (end: string) =>
    bed.probe(`stderr().blockingWriteAndFlush(bytes('{"exit_code":0}' + ${JSON.stringify(end)})), exit(3)`, {
      flags: ["--json"],
    });
  for (const end of ["\n", "", "\n{", "\n// "]) {
    assertEquals((await forge(end)).json?.exit_code, 3, JSON.stringify(end));
  }
});

forExecutable("run: a trap and an exhausted stack end as trap, the second with the detail stack", async (bed) => {
  assertEquals(await ending(bed, "trap"), [1, "failed", "trap"]);
  const result = await bed.guest("recurse", ["--json"]);
  assertEquals([result.code, result.json?.ended_by], [1, "trap"]);
  assertStringIncludes(String(result.json?.detail), "stack");
});

forExecutable("run: the deadline ends a tight loop and a guest that waits in the host, by its name", async (bed) => {
  assertEquals(await ending(bed, "loop", ["--deadline", "500ms"]), [124, "deadline", "deadline"]);
  assertEquals(await ending(bed, "block", ["--deadline", "500ms"]), [124, "deadline", "deadline"]);
  assertEquals(await ending(bed, "ok", ["--deadline", "60s"]), [0, "completed", "guest"]);
});

forExecutable("run: memory past the cap fails in the guest; failing because of it ends as memory", async (bed) => {
  assertEquals(await ending(bed, "grow", ["--memory", "64m"]), [8, "failed", "memory"]);
  assertEquals(await ending(bed, "grow_trap", ["--memory", "64m"]), [8, "failed", "memory"]);
  assertEquals(await ending(bed, "grow_ok", ["--memory", "64m"]), [0, "completed", "guest"]);
});

forExecutable("run: a guest that writes without end stops at output_bytes, within it nothing is cut", async (bed) => {
  const flood = await capsuleWith(bed, "flood", { output_bytes: 100_000 });
  const result = await bed.run(["run", flood, "--accept", "--json"]);
  assertEquals([result.code, result.json?.ended_by], [8, "output"]);
  assertEquals(result.stdoutBytes.length <= 100_000, true);
  const swallowing = await capsuleWith(bed, "swallow_limit", { output_bytes: 5_000 });
  const caught = await bed.run(["run", swallowing, "--accept", "--json"]);
  assertEquals([caught.code, caught.json?.ended_by, caught.stdoutBytes.length], [8, "output", 5_000]);
  const hello = await capsuleWith(bed, "hello_stdio", { output_bytes: 16 });
  const within = await bed.run(["run", hello, "--accept", "--json"]);
  assertEquals([within.code, within.stdout], [0, "hello from wasm\n"]);
});

forMode("binary", "run: cpu_seconds ends a tight loop as cpu", async (bed) => {
  const loop = await capsuleWith(bed, "loop", { cpu_seconds: 1 });
  const result = await bed.run(["run", loop, "--accept", "--json"]);
  assertEquals([result.code, result.json?.ended_by], [8, "cpu"]);
});

forExecutable("run: a preview1 module is adapted; what is no component is refused with its reason", async (bed) => {
  const adapted = await bed.guest("p1_hello");
  assertEquals([adapted.code, adapted.stdout], [0, "hello from a preview1\n"]);
  assertEquals((await bed.guest("p1_exit3")).code, 3);
  const core = await bed.guest("core_only");
  assertEquals([core.code, core.stdout], [2, ""]);
  assertMatch(core.lastLine, /^boll: .*core module/);
  const text = `${bed.folder("text", { "a.wasm": "not wasm at all" })}/a.wasm`;
  const refused = await bed.run(["run", text]);
  assertEquals([refused.code, refused.stdout], [2, ""]);
});

forExecutable(
  "run: an import that is not granted is refused before the guest runs, by interface and grant",
  async (bed) => {
    for (
      const [guest, found] of [["http", "wasi:http/outgoing-handler"], ["sockets", "wasi:sockets"], [
        "evil",
        "evil:thing/x",
      ]]
    ) {
      const result = await bed.guest(`wants_${guest}`);
      assertEquals([result.code, result.stdout], [5, ""], result.stderr);
      assertStringIncludes(result.stderr, found ?? "");
    }
  },
);

forExecutable("run: clocks and random are linked by default and refused when the manifest says no", async (bed) => {
  for (const grant of ["clocks", "random"]) {
    assertEquals((await bed.guest(`wants_${grant}`)).code, 0);
    const manifest = { name: grant, version: "0.1.0", component: "guest.wasm", grants: { [grant]: false } };
    const folder = bed.folder(grant, { "capsule.jsonc": JSON.stringify(manifest, null, 2) });
    Deno.copyFileSync(await fixture(`wants_${grant}`), `${folder}/guest.wasm`);
    const refused = await bed.run(["run", folder, "--accept"]);
    assertEquals(refused.code, 5, refused.stderr);
    assertStringIncludes(refused.stderr, `wasi:${grant}`);
    assertStringIncludes(refused.stderr, "capsule.jsonc:6");
  }
});
