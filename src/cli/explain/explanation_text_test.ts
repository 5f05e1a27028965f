import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { DEFAULT_LIMITS, type Explanation } from "../../grants/mod.ts";
import { explanationText } from "./explanation_text.ts";
import { paintFor } from "../text/paint.ts";

const EXPLANATION: Explanation = {
  capsule: { name: "word-count", version: "0.1.0", kind: "manifest", path: "/capsules/word-count/capsule.jsonc" },
  digest: "sha256:00ff",
  standing: "foreign",
  consent: "missing",
  containment: { asked: "scoped", achieved: "advisory", met: false, reasons: ["no Landlock here"] },
  grants: {
    fs: { work: "rw", mounts: [{ guest: "/data", mode: "ro", host: "/docs" }] },
    env: ["LANG"],
    net: ["https://api.example.com"],
    spawn: ["worker"],
    stdio: true,
    clocks: false,
    random: true,
    limits: DEFAULT_LIMITS,
  },
  walls: [
    { wall: 1, name: "imports", up: true, binds: ["only what is granted"], does_not_bind: ["bugs of the host"] },
    { wall: 4, name: "kernel", up: false, binds: [], does_not_bind: ["everything"] },
  ],
  missing: [{
    interface: "wasi:clocks/wall-clock@0.2.0",
    grant: "clocks",
    manifestLine: 7,
    allow: 'set "clocks": true',
    reason: "clocks are not granted",
  }],
  unbound: [{ guest: "/more", mode: "ro", flag: "--mount DIR:/more:ro" }],
  unused: ["random"],
  secrets: {},
  warnings: ["mount /x dropped"],
};

const sink = { isTerminal: false, write() {} };
const plain = paintFor(sink, { readVariable: () => undefined });

Deno.test("explanationText: what is refused first, then grants, containment and each wall with what it cannot", () => {
  assertEquals(
    explanationText(EXPLANATION, plain),
    `word-count 0.1.0
  /capsules/word-count/capsule.jsonc
  sha256:00ff
  foreign, its grants are not accepted yet: \`boll run\` asks, or takes --accept

Imported and not granted: a run is refused
  wasi:clocks/wall-clock@0.2.0: clocks are not granted (line 7 of the manifest); set "clocks": true

Mounts without a folder: a run is refused
  add --mount DIR:/more:ro

Warnings
  mount /x dropped

Grants
  a work folder at /workdir (rw)
  the folder /docs at /data (ro)
  the variables LANG
  connections to https://api.example.com
  delegation: it may start the capsules worker, each with no more than it has itself
  standard input and output, random numbers
  at most 512 MiB of memory and 600 s

Granted and never imported
  random

Containment advisory (floor scoped: not met, a run is refused)
  no Landlock here

Wall 1: imports up
  holds   only what is granted
  cannot  bugs of the host

Wall 4: kernel not up
  cannot  everything
`,
  );
});

Deno.test("explanationText: what is empty is left out, foreign text is made safe", () => {
  const { asked: _asked, ...containment } = EXPLANATION.containment;
  const text = explanationText({
    ...EXPLANATION,
    capsule: { name: "a\x1b[2J\nb", kind: "bare", path: "/c\u202e" },
    standing: "bare",
    consent: "not_needed",
    containment,
    missing: [],
    unbound: [],
    unused: [],
    warnings: [],
  }, plain);
  assert(text.startsWith("a\\u{1b}[2J\\u{a}b\n  /c\\u{202e}\n"));
  assertStringIncludes(text, "no floor asked");
  for (const absent of ["not granted", "Mounts", "Warnings", "never imported", "Secrets"]) {
    assert(!text.includes(absent), absent);
  }
});
