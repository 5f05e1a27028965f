import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { captureContext, type CaptureContextOptions } from "./context_fixture.ts";
import { HELP_COLUMNS, HELP_LINES } from "./about/help_text.ts";
import { main } from "./main.ts";
import { reportError } from "./report_error.ts";
import { VERBS } from "./verbs.ts";

async function boll(argv: readonly string[], options: CaptureContextOptions = {}) {
  const captured = captureContext(options);
  const exitCode = await main(argv, captured.context);
  return { exitCode, stdout: captured.stdout(), stderr: captured.stderr() };
}

const golden = (name: string) => Deno.readTextFileSync(new URL(`./testdata/help/${name}.txt`, import.meta.url));

Deno.test("boll --help, -h, help: the overview on stdout, exit 0", async () => {
  for (const argv of [["--help"], ["-h"], ["help"]]) {
    assertEquals(await boll(argv), { exitCode: 0, stdout: golden("overview"), stderr: "" });
  }
  for (const line of golden("overview").split("\n")) assert(line.length <= HELP_COLUMNS, line);
});

Deno.test("boll without a verb: the overview and a reason on stderr, exit 2", async () => {
  const { exitCode, stdout, stderr } = await boll([]);
  assertEquals([exitCode, stdout], [2, ""]);
  assertEquals(stderr, `${golden("overview")}\nboll: Read verb: found none; see \`boll --help\`\n`);
});

for (const { name, summary, load } of VERBS) {
  Deno.test(`boll ${name} --help: as recorded, by three ways, within one screen`, async () => {
    const text = golden(name);
    for (const argv of [["help", name], [name, "--help"], [name, "-h", "--nonsense"]]) {
      assertEquals(await boll(argv), { exitCode: 0, stdout: text, stderr: "" });
    }
    const lines = text.trimEnd().split("\n");
    assert(lines.length <= HELP_LINES, `${lines.length} lines`);
    for (const line of lines) assert(line.length <= HELP_COLUMNS, line);
    const { verb } = await load();
    assertEquals([verb.name, verb.summary], [name, summary]);
  });

  Deno.test(`boll ${name}: an unknown flag is refused, exit 2, also as JSON`, async () => {
    const human = await boll([name, "--nonsense"]);
    assertEquals([human.exitCode, human.stdout], [2, ""]);
    assertStringIncludes(human.stderr, 'Read "--nonsense": no such flag');
    assert(human.stderr.trimEnd().split("\n").at(-1)!.startsWith("boll: "));
    const { verb } = await load();
    if (!verb.options.some((option) => option.name === "json")) return;
    const json = await boll([name, "--nonsense", "--json"]);
    assertEquals([json.exitCode, json.stdout, json.stderr.trimEnd().includes("\n")], [2, "", false]);
    const report = JSON.parse(json.stderr);
    const status = name === "run" ? "refused" : "failed";
    assertEquals([report.status, report.exit_code, report.code], [status, 2, "usage.unknown_flag"]);
  });
}

Deno.test("boll: an unknown verb is refused with the nearest one, also as JSON", async () => {
  assertEquals(await boll(["rnu"]), {
    exitCode: 2,
    stdout: "",
    stderr: 'boll: Read verb: found "rnu", did you mean run?\n',
  });
  const { stderr } = await boll(["help", "zzzzzz"]);
  assertEquals(
    stderr,
    `boll: Read verb: found "zzzzzz", wanted one of ${VERBS.map(({ name }) => name).join(", ")}\n`,
  );
  const json = await boll(["\x1b[31m", "--json"]);
  assertEquals(JSON.parse(json.stderr).code, "usage.unknown_verb");
  assert(!json.stderr.includes("\x1b"));
});

Deno.test("boll: several problems are all printed before the last line", async () => {
  const { stderr } = await boll(["check", "--a", "--b"]);
  assertEquals(
    stderr,
    '  Read "--a": no such flag\n  Read "--b": no such flag\n  Read CAPSULE: found none\n' +
      "boll: Read arguments: found 3 problems; see `boll check --help`\n",
  );
});

Deno.test("boll: a closed stdout ends quietly with 141", async () => {
  assertEquals(await boll(["--help"], { stdoutClosed: true }), { exitCode: 141, stdout: "", stderr: "" });
  assertEquals((await boll(["version"], { stdoutClosed: true })).exitCode, 141);
});

Deno.test("boll: a failure of ours is one line that says how to report it; the stack only with BOLL_DEBUG=1", () => {
  const failing = (variables: Record<string, string>) => {
    const captured = captureContext({ variables });
    const exitCode = reportError(new TypeError("a\nb\x1b[2J"), captured.context, { json: false });
    return { exitCode, stderr: captured.stderr() };
  };
  const plain = failing({});
  assertEquals(plain.exitCode, 1);
  assertEquals(plain.stderr.split("\n").length, 2);
  assertStringIncludes(plain.stderr, "boll: internal error: a\\u{a}b\\u{1b}[2J; this is a mistake in boll");
  const debug = failing({ BOLL_DEBUG: "1" });
  assertStringIncludes(debug.stderr, "main_test.ts");
  assert(!debug.stderr.includes("\x1b"));
  assert(debug.stderr.trimEnd().split("\n").at(-1)!.startsWith("boll: internal error"));
});

Deno.test("boll: what the host is short of is told with a way out, and is no mistake of boll's", () => {
  const failing = (error: unknown) => {
    const captured = captureContext();
    assertEquals(reportError(error, captured.context, { json: false }), 1);
    return captured.stderr();
  };
  const full = new Error("No space left on device (os error 28): writefile '/a'");
  const wanted = "boll: Use this host: No space left on device (os error 28): writefile '/a'; free space there\n";
  assertEquals(failing(full), wanted);
  assertEquals(failing(new SuppressedError(new Error("cleaning"), full)), wanted);
  assertStringIncludes(failing(new Error("No such file (os error 2)")), "this is a mistake in boll");
});

Deno.test("boll: a variable whose value is not UTF-8 is refused where it counts, and not for how things look", () => {
  const variables = new Proxy({}, {
    get(): string {
      throw new TypeError("not UTF-8");
    },
  });
  const { context, stderr } = captureContext({ variables, isTerminal: true });
  assertEquals(reportError(new CapsuleError("home.unwritable", "Open home: x"), context, { json: false }), 1);
  assertStringIncludes(stderr(), "Open home: x");
});

Deno.test("boll: colour only on a terminal that wants it", async () => {
  const colour = "\x1b[31mboll:\x1b[39m";
  assert((await boll(["rnu"], { isTerminal: true })).stderr.startsWith(colour));
  for (const variables of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
    assert((await boll(["rnu"], { isTerminal: true, variables })).stderr.startsWith("boll:"));
  }
  assert((await boll(["rnu"])).stderr.startsWith("boll:"));
});

Deno.test("boll version: text and JSON name the same versions", async () => {
  const text = await boll(["version"]);
  const json = JSON.parse((await boll(["version", "--json"])).stdout);
  assertEquals([text.exitCode, text.stderr], [0, ""]);
  assertStringIncludes(text.stdout, `boll ${json.boll}\nbase: ${json.base}`);
  for (const name of ["deno", "v8", "transpiler", "target"]) {
    assertStringIncludes(text.stdout, `${name}: ${json[name]}\n`);
  }
  assertEquals((await boll(["--version"])).stdout, text.stdout);
  assertEquals((await boll(["-V"])).stdout, text.stdout);
});
