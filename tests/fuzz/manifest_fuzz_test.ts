/** `capsule.jsonc` and `boll.jsonc`, as text, as bytes and as whatever lies at their path. */
import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import fc from "fast-check";
import { errorCodeOf } from "../../src/base/mod.ts";
import { parseManifest, parseWorkspace } from "../../src/manifest/parse_manifest.ts";
import { loadCapsule, readWorkspace } from "../../src/manifest/mod.ts";
import { byteMutation, mutateBytes } from "./byte_mutation.ts";
import { fuzz, lateRefusalOf, refusalOf } from "./fuzz.ts";
import { REPOSITORY } from "../harness.ts";

const TESTDATA = join(REPOSITORY, "src/manifest/testdata");
const SAMPLES = ["hello", "hello-http", "link-check", "word-count"].map((name) =>
  join(REPOSITORY, "capsules", name, "capsule.jsonc")
);
const written = [...Deno.readDirSync(TESTDATA)].map(({ name }) => name).filter((name) => name.endsWith(".jsonc")).sort()
  .map((name) => join(TESTDATA, name)).concat(SAMPLES).map((path) => Deno.readFileSync(path));

const KEYS = [
  ...["name", "version", "description", "component", "args", "grants", "trace", "capture", "fs", "work", "mounts"],
  ...["host", "guest", "mode", "env", "net", "stdio", "clocks", "random", "limits", "memory_mb", "deadline_ms"],
  ...["cpu_seconds", "output_bytes", "open_files", "file_bytes", "work_bytes", "containment", "capsules", "ceiling"],
  ...["proxy", "ca", "inference", "$schema", "__proto__", "constructor", "toString", "", "a.b", "a[0]", "secret"],
];
const WORDS = [
  ...["a", "1.0.0", "a.wasm", "../a.wasm", "/etc/passwd", "rw", "ro", "/data", "/data/../x", "/workdir", "/", "PATH"],
  ...["AWS_SECRET_ACCESS_KEY", "LD_PRELOAD", "https://a.test", "https://user:pw@a.test", "tcp://[::1]:1", "listen:0"],
  ...[
    "meta",
    "content",
    "scoped",
    "capsules/*",
    "**/**/**/**/**/x",
    "\u202e",
    "\ud800",
    "\0",
    "\x1b[2J",
    "é".repeat(99),
  ],
  ...["http://proxy", "*.com", "a".repeat(5000), "1.0.0-" + "a.".repeat(200), "file:line:1"],
];
const NUMBERS = [0, -1, 1, 1.5, 512, 1e21, 2 ** 53, Number.MAX_VALUE, -0];

/** A value as a manifest may have it, or not. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: "small", withCrossShrink: true },
    fc.constantFrom(...WORDS),
    fc.constantFrom(...NUMBERS, true, false, null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie("value"), { maxKeys: 5, noNullPrototype: true }),
  ),
}));

/** A whole manifest, so far as it goes, with values that may be of another kind. */
const manifest = fc.record({
  name: fc.oneof({ weight: 5, arbitrary: fc.constant("a") }, value),
  version: fc.oneof({ weight: 5, arbitrary: fc.constant("1.0.0") }, value),
  component: fc.oneof({ weight: 5, arbitrary: fc.constant("a.wasm") }, value),
  args: value,
  grants: fc.oneof(
    value,
    fc.record({
      fs: fc.record({ work: value, mounts: fc.array(fc.record({ guest: value, host: value, mode: value })) }, {
        requiredKeys: [],
      }),
      env: fc.array(value),
      net: fc.array(value),
      limits: fc.dictionary(fc.constantFrom(...KEYS), value),
    }, { requiredKeys: [] }),
  ),
  trace: value,
  ceiling: value,
  capsules: value,
  proxy: value,
}, { requiredKeys: ["name", "version", "component"] });

const PIECES = [
  ...[",", ":", "{", "}", "[", "]", '"', "//", "/*", "*/", "\\", "\\u", "\\ud800", "\n", "\r", "\u2028", "null", "1e9"],
  ...[
    "-",
    '"name":',
    '"__proto__":',
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "\ufeff",
    "\0",
    "\xff",
    "'",
    "0x1",
    "NaN",
    "\t",
  ],
];
const changes = fc.array(byteMutation(PIECES), { maxLength: 4 });

const text = fc.oneof(
  fc.tuple(manifest, fc.constantFrom(0, 2), changes).map(([whole, indent, wrongs]) =>
    mutateBytes(new TextEncoder().encode(JSON.stringify(whole, null, indent)), wrongs)
  ),
  fc.tuple(fc.constantFrom(...written), changes).map(([whole, wrongs]) => mutateBytes(whole, wrongs)),
  fc.array(fc.constantFrom(...PIECES, ...WORDS.slice(0, 8)), { maxLength: 30 }).map((pieces) =>
    new TextEncoder().encode(pieces.join(""))
  ),
);

/** Each problem stands at a place that the text has. */
function checkPlaces(error: Error, source: string): void {
  const { message, problems } = error as Error & { problems: readonly string[] };
  assert(problems.length > 0, `no problems: ${message}`);
  const lines = source.split("\n");
  for (const problem of problems) {
    const more = /^… and \d+ more$/.test(problem);
    const [, line, column] = /^capsule\.jsonc:(\d+):(\d+): ./s.exec(problem) ?? [];
    if (more) continue;
    assert(line !== undefined, `no file, line and column: ${problem}`);
    const found = lines[Number(line) - 1];
    assert(
      found !== undefined && Number(column) <= found.length + 1,
      `${problem} is no place of ${JSON.stringify(source)}`,
    );
  }
}

fuzz("the text of a manifest or workspace is read, or refused with the place of every problem", {
  input: text,
  runs: 2_500,
  check(bytes) {
    const source = new TextDecoder().decode(bytes);
    for (const parse of [parseManifest, parseWorkspace]) {
      const refusal = refusalOf(() => parse(source, "capsule.jsonc"));
      if (refusal === undefined) continue;
      assert(/^(manifest|workspace)\./.test(errorCodeOf(refusal)!), errorCodeOf(refusal));
      checkPlaces(refusal, source);
    }
  },
});

fuzz("what is accepted is accepted again from its own words, with the same grants", {
  input: manifest,
  runs: 800,
  check(whole) {
    const source = JSON.stringify(whole);
    let read: ReturnType<typeof parseManifest> | undefined;
    if (refusalOf(() => read = parseManifest(source, "capsule.jsonc")) !== undefined) return;
    const { positions: _, ...plain } = read!;
    const { positions: __, ...again } = parseManifest(JSON.stringify(plain), "capsule.jsonc");
    assertEquals(again, plain);
  },
});

/** What may lie where a file is looked for. */
const LIES = ["file", "folder", "link", "loop", "fifo", "nothing", "socket"] as const;

fuzz("whatever lies at the path of a manifest or workspace is read, or refused by name, and never waited for", {
  input: fc.tuple(text, fc.constantFrom(...LIES), fc.constantFrom(...LIES)),
  runs: 120,
  async check([bytes, manifestKind, workspaceKind]) {
    const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "boll-fuzz-" }));
    try {
      await put(join(folder, "capsule.jsonc"), manifestKind, bytes);
      await put(join(folder, "boll.jsonc"), workspaceKind, bytes);
      await put(join(folder, "a.wasm"), workspaceKind, bytes);
      const refusals = [
        await lateRefusalOf(() => loadCapsule(folder)),
        await lateRefusalOf(() => readWorkspace(join(folder, "boll.jsonc"))),
      ];
      for (const refusal of refusals) {
        if (refusal !== undefined) assert(refusal.message.includes(folder), refusal.message);
      }
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  },
});

async function put(path: string, kind: typeof LIES[number], bytes: Uint8Array): Promise<void> {
  if (kind === "file") Deno.writeFileSync(path, bytes);
  else if (kind === "folder") Deno.mkdirSync(path);
  else if (kind === "link") Deno.symlinkSync("/etc/passwd", path);
  else if (kind === "loop") Deno.symlinkSync(path, path);
  else if (kind === "fifo") await new Deno.Command("mkfifo", { args: [path] }).output();
  else if (kind === "socket") Deno.listen({ transport: "unix", path }).close();
}
