import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fixture, forEachMode, forMode } from "../harness.ts";

/** What `--json` says at every ending (README, "Exit codes"). */
const ENDING_KEYS = ["session_id", "status", "exit_code", "ended_by", "duration_ms", "containment", "trace"];

forEachMode(
  "boll: an unknown verb, flag or value is a usage error with a suggestion, and nothing starts",
  async (bed) => {
    const guest = await fixture("hello_stdio");
    const wrong: [string[], RegExp][] = [
      [["rum", guest], /run/],
      [["run", guest, "--mont", "x:/y"], /--mount/],
      [["run", guest, "--deadline", "soon"], /deadline/],
      [["run", guest, "--mount", "nowhere"], /HOST:GUEST|mount/],
      [["explain", guest, "--ask"], /nothing is asked/],
      [["run"], /CAPSULE/],
    ];
    for (const [args, wanted] of wrong) {
      const result = await bed.run(args);
      assertEquals([result.code, result.stdout], [2, ""], args.join(" "));
      assertMatch(result.stderr, wanted);
      assertMatch(result.lastLine, /^boll: /);
    }
    assertEquals((await bed.run(["run", guest])).stdout, "hello from wasm\n");
  },
);

forEachMode("boll: arguments after -- belong to the guest, also when they look like options", async (bed) => {
  const { value } = await bed.probe("args", { args: ["--json", "--help", "--", "-x"] });
  assertEquals(value, ["--json", "--help", "--", "-x"]);
});

forEachMode("boll: every verb has help that fits a screen", async (bed) => {
  const overview = await bed.run(["--help"]);
  assertEquals(overview.code, 0);
  for (const verb of ["run", "check", "explain", "doctor", "init", "trace", "version"]) {
    assertStringIncludes(overview.stdout, verb);
    const help = await bed.run([verb, "--help"]);
    assertEquals(help.code, 0, help.stderr);
    const lines = help.stdout.trimEnd().split("\n");
    assertEquals(lines.length <= 40 && lines.every((line) => line.length <= 100), true, help.stdout);
  }
});

forEachMode("boll run --dry-run: checks and builds, runs nothing", async (bed) => {
  const result = await bed.guest("hello_stdio", ["--dry-run"]);
  assertEquals(result.code, 0, result.stderr);
  assertEquals(result.stdout.includes("hello from wasm"), false);
  const refused = await bed.guest("wants_http", ["--dry-run"]);
  assertEquals(refused.code, 5);
  const json = await bed.guest("hello_stdio", ["--dry-run", "--json"]);
  const wanted = { status: "completed", exit_code: 0, dry_run: true, containment: json.json?.containment };
  assertEquals([json.code, json.stdout, json.json], [0, "", wanted]);
  assertEquals(json.stderr.trimEnd().split("\n").length, 1);
  assertEquals([...Deno.readDirSync(`${bed.home}/sessions`)], []);
});

forEachMode("boll run --quiet: only errors are said; without it warnings and denials too", async (bed) => {
  const flags = ["--env", "ABSENT", "--mount", `${bed.folder("data")}:/data:ro`];
  const args = ["run", await fixture("probe"), ...flags];
  const source = 'attempt(() => writeFile("/data/x", "y")).err';
  const loud = await bed.run([...args, "--", source]);
  assertEquals(loud.code, 0);
  assertMatch(loud.stderr, /^boll: warning: .*ABSENT.*\nboll: denied: .*\n$/);
  const quiet = await bed.run([...args, "--quiet", "--", source]);
  assertEquals([quiet.code, quiet.stdout, quiet.stderr], [0, loud.stdout, ""]);
  const failed = await bed.guest("trap", ["--quiet"]);
  assertEquals(failed.code, 1);
  assertMatch(failed.stderr, /^boll: the guest trapped.*\n$/);
});

forEachMode(
  "boll run --containment: a floor that is not met is refused before the guest runs, and recorded",
  async (bed) => {
    const scoped = await bed.guest("hello_stdio", ["--containment", "scoped"]);
    const last = bed.trace().at(-1);
    if (bed.mode === "binary") assertEquals([scoped.code, scoped.stdout], [0, "hello from wasm\n"], scoped.stderr);
    else {
      assertEquals([scoped.code, scoped.stdout], [5, ""]);
      assertMatch(scoped.lastLine, /^boll: .*scoped/);
      assertEquals([last?.event, last?.ended_by, last?.exit_code], ["session_end", "refused", 5]);
      assertEquals(bed.trace().some(({ event }) => event === "walls"), false);
    }
    assertEquals((await bed.guest("hello_stdio", ["--containment", "advisory"])).code, 0);
  },
);

forMode(
  "binary",
  "boll run: less than the strongest containment is said once, with its reason; the strongest is not",
  async (bed) => {
    assertEquals((await bed.guest("hello_stdio")).stderr, "");
    const flags = ["--net", "udp://127.0.0.1:9"];
    const advisory = await bed.guest("hello_stdio", flags);
    assertEquals([advisory.code, advisory.stdout], [0, "hello from wasm\n"]);
    assertMatch(advisory.stderr, /^boll: warning: containment is advisory: [^\n]*udp[^\n]*\n$/);
    assertEquals((await bed.guest("hello_stdio", [...flags, "--quiet"])).stderr, "");
  },
);

forEachMode("boll run --json: stdout stays the guest's, one object on stderr, on refusals too", async (bed) => {
  const done = await bed.guest("hello_stdio", ["--json"]);
  assertEquals([done.stdout, done.stderr.trim().split("\n").length], ["hello from wasm\n", 1]);
  assertEquals(ENDING_KEYS.filter((key) => !(key in (done.json ?? {}))), []);
  const refused = await bed.guest("wants_evil", ["--json"]);
  assertEquals([refused.json?.exit_code, refused.json?.ended_by], [5, "refused"]);
});

forEachMode("boll run --json: an ending before there is a session has its cause in the same words", async (bed) => {
  const manifest = JSON.stringify({ name: "foreign", version: "0.1.0", component: "guest.wasm" });
  const foreign = bed.folder("foreign", { "capsule.jsonc": manifest, "guest.wasm": "", "text.wasm": "text" });
  const endings: [string[], number, string, Record<string, string>?][] = [
    [["nowhere"], 2, "refused"],
    [[], 2, "refused"],
    [[foreign], 5, "refused"],
    [[foreign, "--mount", "/nowhere:/data"], 5, "refused"],
    [[`${foreign}/text.wasm`], 1, "crashed", { BOLL_HOME: `${foreign}/text.wasm` }],
    [[`${foreign}/text.wasm`], 2, "refused"],
  ];
  for (const [args, code, ending, env = {}] of endings) {
    const result = await bed.run(["run", "--json", ...args], { env });
    const { exit_code, status, ended_by } = result.json ?? {};
    assertEquals(ENDING_KEYS.filter((key) => !(key in (result.json ?? {}))), [], result.stderr);
    assertEquals([result.code, exit_code, status, ended_by], [code, code, ending, ending], result.stderr);
    assertEquals([result.stdout, result.stderr.trimEnd().split("\n").length], ["", 1]);
  }
});

forEachMode("boll run: never looks at other sessions; a verb that reads them marks what died", async (bed) => {
  assertEquals((await bed.guest("ok")).code, 0);
  const [ended] = bed.sessions();
  const died = `${bed.home}/sessions/ses_${"0".repeat(32)}`;
  Deno.mkdirSync(`${died}/records`, { recursive: true });
  Deno.copyFileSync(`${ended}/records/lock`, `${died}/records/lock`);
  const [start] = Deno.readTextFileSync(`${ended}/records/trace.jsonl`).split("\n");
  Deno.writeTextFileSync(`${died}/records/trace.jsonl`, `${start}\n`);
  assertEquals((await bed.guest("ok")).code, 0);
  assertEquals(Deno.readTextFileSync(`${died}/records/trace.jsonl`), `${start}\n`);
  assertEquals((await bed.run(["trace", "show"])).code, 0);
  const [, end] = Deno.readTextFileSync(`${died}/records/trace.jsonl`).trimEnd().split("\n");
  assertEquals(JSON.parse(end ?? "{}").ended_by, "crashed");
});

forEachMode("boll explain --json: its grants are the object that the trace of a run records", async (bed) => {
  const flags = ["--mount", `${bed.folder("data")}:/data:rw`, "--env", "NAME=value", "--memory", "64m"];
  const explained = await bed.run(["explain", await fixture("hello_stdio"), ...flags, "--json"]);
  assertEquals((await bed.guest("hello_stdio", flags)).code, 0, explained.stderr);
  const { grants, containment } = JSON.parse(explained.stdout);
  const [start] = bed.trace();
  assertEquals([start?.event, start?.grants], ["session_start", grants]);
  assertEquals((start?.containment as Record<string, unknown>).achieved, containment.achieved);
  const plan = JSON.parse(Deno.readTextFileSync(`${bed.sessions()[0]}/records/plan.json`));
  assertEquals([plan.session_id, plan.grants, plan.containment], [start?.session_id, grants, start?.containment]);
  assertEquals(plan.component.imports.some((name: string) => name.startsWith("wasi:cli/stdout@")), true);
  assertEquals(JSON.stringify([bed.trace(), explained.stdout, plan]).includes("value"), false);
});

forEachMode("boll trace show: prints the session's events, as text and as JSON", async (bed) => {
  await bed.guest("exit3");
  const text = await bed.run(["trace", "show"]);
  assertEquals(text.code, 0, text.stderr);
  assertStringIncludes(text.stdout, "session_end");
  const json = await bed.run(["trace", "show", "--json"]);
  const events = json.stdout.trimEnd().split("\n").map((line) => JSON.parse(line).event);
  assertEquals([events[0], events.at(-1)], ["session_start", "session_end"]);
});

forEachMode("boll version and doctor: say what this is and which walls the host has", async (bed) => {
  const version = await bed.run(["version"]);
  assertEquals(version.code, 0);
  assertMatch(version.stdout, /\d+\.\d+\.\d+/);
  const doctor = await bed.run(["doctor"]);
  for (const wall of ["1 imports", "2 permissions", "3 process", "4 kernel"]) assertStringIncludes(doctor.stdout, wall);
});

forEachMode("boll version --json: names the very executable by its hash, and no checkout", async (bed) => {
  const { stdout } = await bed.run(["version", "--json"]);
  const executable = await crypto.subtle.digest("SHA-256", Deno.readFileSync(bed.command([])[0]!));
  assertEquals(JSON.parse(stdout).sha256, bed.mode === "binary" ? new Uint8Array(executable).toHex() : null);
});

forEachMode("run: two first runs at once build one component twice at most and both succeed", async (bed) => {
  const both = await Promise.all([bed.guest("hello_stdio"), bed.guest("hello_stdio")]);
  assertEquals(both.map((result) => [result.code, result.stdout]), [[0, "hello from wasm\n"], [
    0,
    "hello from wasm\n",
  ]]);
  assertEquals(bed.sessions().length, 2);
});

forEachMode("run: a home that cannot be used is refused with a hint", async (bed) => {
  const file = `${bed.folder("file", { home: "" })}/home`;
  const refused = await bed.guest("ok", [], { env: { BOLL_HOME: file } });
  assertEquals(refused.code === 0, false);
  assertStringIncludes(refused.stderr, "BOLL_HOME");
  assertEquals((await bed.guest("ok")).code, 0);
});
