import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { GuestExit } from "./endings.ts";
import { createWasi } from "./host.ts";
import { bareOptions, thrown } from "./host_fixture.ts";

type Call = (...args: unknown[]) => unknown;

function calls(options: Parameters<typeof bareOptions>[0] = {}) {
  const { imports } = createWasi(bareOptions(options));
  return (name: string, method: string) => imports[name]![method] as Call;
}

Deno.test("createWasi: every interface but network, and clocks and random only when granted", () => {
  const names = (options: Parameters<typeof bareOptions>[0]) =>
    Object.keys(createWasi(bareOptions(options)).imports).sort();
  const without = names({ interfaces: { clocks: false, random: false } });
  assertEquals(without, [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
  ]);
  const added = names({}).filter((name) => !without.includes(name));
  assertEquals(added, [
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
  ]);
});

Deno.test("createWasi: an import's name finds interfaces and functions, never a prototype", () => {
  const { imports } = createWasi(bareOptions());
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "wasi:cli/run"]) {
    assertEquals(imports[name], undefined);
    assertEquals(imports["wasi:cli/exit"]![name], undefined);
  }
  assertEquals(typeof imports["wasi:cli/exit"]!["exit"], "function");
  assert(Object.isFrozen(imports) && Object.isFrozen(imports["wasi:cli/exit"]));
});

Deno.test("cli: arguments, variables and folder are exactly those given", () => {
  const call = calls({ args: ["a", "b c"], env: [["LANG", "C"], ["__proto__", "x"]], cwd: "/workdir" });
  assertEquals(call("wasi:cli/environment", "getArguments")(), ["a", "b c"]);
  assertEquals(call("wasi:cli/environment", "getEnvironment")(), [["LANG", "C"], ["__proto__", "x"]]);
  assertEquals(call("wasi:cli/environment", "initialCwd")(), "/workdir");
  assertEquals(calls()("wasi:cli/environment", "getEnvironment")(), []);
  assertEquals(calls()("wasi:cli/environment", "initialCwd")(), undefined);
});

Deno.test("cli: exit and exit-with-code end the guest with its code", () => {
  const code = (method: string, value: unknown) => {
    const exit = thrown(() => calls()("wasi:cli/exit", method)(value));
    assertInstanceOf(exit, GuestExit);
    return exit.code;
  };
  assertEquals([code("exit", { tag: "ok" }), code("exit", { tag: "err" })], [0, 1]);
  assertEquals([code("exitWithCode", 0), code("exitWithCode", 3), code("exitWithCode", 255)], [0, 3, 255]);
});

Deno.test("cli: a terminal is told for exactly the streams that are one", () => {
  const call = calls({ terminal: { stdin: true, stdout: false, stderr: true } });
  const { TerminalInput } = createWasi(bareOptions()).imports["wasi:cli/terminal-input"] as {
    TerminalInput: new () => object;
  };
  assertInstanceOf(call("wasi:cli/terminal-stdin", "getTerminalStdin")(), TerminalInput);
  assertEquals(call("wasi:cli/terminal-stdout", "getTerminalStdout")(), undefined);
  assert(call("wasi:cli/terminal-stderr", "getTerminalStderr")() !== undefined);
});

Deno.test("clocks: monotonic never goes back, wall is a datetime", () => {
  const call = calls();
  const now = call("wasi:clocks/monotonic-clock", "now") as () => bigint;
  const first = now();
  assert(now() >= first && first >= 0n);
  assert((call("wasi:clocks/monotonic-clock", "resolution")() as bigint) > 0n);
  const wall = call("wasi:clocks/wall-clock", "now")() as { seconds: bigint; nanoseconds: number };
  assert(wall.seconds > 1_600_000_000n && wall.nanoseconds < 1_000_000_000);
  assertEquals(call("wasi:clocks/wall-clock", "resolution")(), { seconds: 0n, nanoseconds: 1_000_000 });
});

Deno.test("clocks: instants that have passed are ready, far ones are not, whatever their size", async () => {
  const call = calls();
  const subscribe = call("wasi:clocks/monotonic-clock", "subscribeInstant") as (when: bigint) => {
    ready(): boolean;
    block(): Promise<void>;
  };
  const now = call("wasi:clocks/monotonic-clock", "now")() as bigint;
  assert(subscribe(0n).ready() && subscribe(now).ready());
  for (const far of [now + 10n ** 15n, 2n ** 63n, 2n ** 64n - 1n]) assert(!subscribe(far).ready());
  await subscribe(now + 1000n).block();
});

Deno.test("random: exactly as many bytes as asked, up to 64 MiB, and a named trap past that", () => {
  const call = calls();
  for (const [name, method] of [["random", "getRandomBytes"], ["insecure", "getInsecureRandomBytes"]] as const) {
    const give = call(`wasi:random/${name}`, method) as (length: bigint) => Uint8Array;
    for (const length of [0n, 1n, 65_536n, 65_537n, 200_000n]) assertEquals(BigInt(give(length).length), length);
    assert(give(100_000n).subarray(65_536).some((byte) => byte !== 0));
    for (const length of [67_108_865n, 2n ** 64n - 1n]) {
      const error = thrown(() => give(length));
      assertInstanceOf(error, Error);
      assert(error.message.includes("at most 67108864"));
    }
  }
  const [one, two] = call("wasi:random/insecure-seed", "insecureSeed")() as [bigint, bigint];
  assert(one !== two && one !== call("wasi:random/random", "getRandomU64")());
  assertEquals(typeof call("wasi:random/insecure", "getInsecureRandomU64")(), "bigint");
});
