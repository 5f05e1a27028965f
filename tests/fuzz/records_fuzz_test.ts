/** Verbs that read records, over sessions whose files are junk, links, pipes, folders, or of a size nobody expects. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { EXIT_STATUS } from "../../src/base/mod.ts";
import { captureContext } from "../../src/cli/context_fixture.ts";
import { main } from "../../src/cli/main.ts";
import { createSession, openHome, type SessionPaths, TraceWriter } from "../../src/records/mod.ts";
import { byteMutation, mutateBytes } from "./byte_mutation.ts";
import { fuzz } from "./fuzz.ts";

const SENTINEL = "SENTINEL-91ab";
/** What no verb may let through to a terminal. */
const CONTROL = /[^\P{Cc}\n\t]|\u202e/u;
const START = {
  capsule: { name: "word-count", kind: "folder", path: "/capsules/word-count/capsule.jsonc" },
  digest: "sha256:00ff",
  containment: { achieved: "advisory" },
  grants: { fs: { mounts: [{ guest: "/data", mode: "ro", host: "/srv" }] }, net: ["https://a.test"], stdio: true },
} as const;

/** What may be done to a session's folder, below its root. */
const PLACES = [
  ...["records/trace.jsonl", "records/summary.json", "records/lock", "records/plan.json", "records/completion.json"],
  ...[
    "records/out/result.txt",
    "records",
    "records/out",
    "runtime",
    "runtime/logs",
    "runtime/logs/guest.log",
    "work",
    "",
  ],
  ...["runtime/logs/\x1b[2J.log", "runtime/logs/a".padEnd(200, "a") + ".log", "runtime/delegations/x.txt", "junk"],
];
const KINDS = [
  "bytes",
  "wrong",
  "folder",
  "link",
  "chain",
  "loop",
  "fifo",
  "socket",
  "gone",
  "huge",
  "closed",
] as const;

/** Values of events, and of what is no event. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constantFrom<unknown>("", "completed", "guest", "\x1b[2J\u202e", "x".repeat(9_000), "\ud800", "__proto__"),
    fc.constantFrom<unknown>(0, -1, 1.5, 1e308, 8.64e15 + 1, Number.MAX_SAFE_INTEGER, true, null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom("name", "wall", "grant", "asked", "fs", "mounts", "limits", "__proto__"),
      tie("value"),
    ),
  ),
}));
const EVENTS = [
  ...[
    "session_start",
    "task_start",
    "inference",
    "tool_call",
    "denied",
    "connection",
    "delegation_start",
    "delegation",
  ],
  ...["compaction", "gate", "gate_closed", "verdict", "limit", "task_end", "session_end", "nobody_knows", "__proto__"],
];
const FIELDS = [
  ...["capsule", "digest", "containment", "grants", "status", "exit_code", "ended_by", "duration_ms", "wall", "grant"],
  ...["asked", "allow", "host", "port", "detail", "limit", "bytes", "entry", "address", "tool", "usage", "problems"],
];
const event = fc.record({
  event: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...EVENTS) }, value),
  ts: fc.oneof({ weight: 4, arbitrary: fc.nat() }, value),
  session_id: fc.oneof({ weight: 9, arbitrary: fc.constant("ses_x") }, value),
  rest: fc.dictionary(fc.constantFrom(...FIELDS), value, { maxKeys: 6 }),
}).map(({ rest, ...known }) => JSON.stringify({ ...known, ...rest }));
const line = fc.oneof(
  { weight: 6, arbitrary: event },
  fc.constantFrom("", "{", "null", "[]", "{}", "\0", "\xff", '{"event":"session_end"', " ", "\r"),
  fc.constantFrom(5, 5_000, 200_000).map((depth) =>
    `{"event":"denied","ts":1,"session_id":"s","asked":${"[".repeat(depth)}${"]".repeat(depth)}}`
  ),
  fc.constantFrom(5_000, 200_000).map((depth) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth)),
);
const PIECES = [
  "\n",
  "\r\n",
  "\0",
  '"',
  "{",
  "}",
  '{"event":"session_end","ts":1,"session_id":"s"}\n',
  "\u202e",
  "\x1b",
];
const content = fc.tuple(
  fc.array(line, { maxLength: 8 }),
  fc.array(byteMutation(PIECES), { maxLength: 3 }),
  fc.boolean(),
)
  .map(([lines, wrongs, ended]) =>
    mutateBytes(new TextEncoder().encode(lines.join("\n") + (ended ? "\n" : "")), wrongs)
  );

/** An event with a value nested so deep. */
function nestedLine(depth: number): Uint8Array {
  const value = "[".repeat(depth) + "]".repeat(depth);
  return new TextEncoder().encode(`{"event":"denied","ts":1,"session_id":"s","asked":${value}}\n`);
}

interface Damage {
  readonly session: number;
  readonly place: string;
  readonly kind: typeof KINDS[number];
  readonly bytes: Uint8Array;
}
const damage: fc.Arbitrary<Damage> = fc.record({
  session: fc.nat(2),
  place: fc.oneof(fc.constantFrom(...PLACES), fc.constantFrom(...PLACES.slice(0, 3))),
  kind: fc.oneof({ weight: 8, arbitrary: fc.constant("bytes" as const) }, fc.constantFrom(...KINDS)),
  bytes: content,
});

const VERBS = [
  ["sessions"],
  ["sessions", "--json", "--limit", "all"],
  ["trace", "show", "SESSION"],
  ["trace", "show", "SESSION", "--json", "--all"],
  ["trace", "follow", "SESSION"],
  ["logs", "SESSION"],
  ["logs", "SESSION", "--all"],
  ["gc", "--older-than", "0", "--dry-run"],
  ["rm", "SESSION"],
  ["gc", "--older-than", "0", "--keep", "1"],
];

/** A home with three sessions: ended, crashed, and one that this process still has. */
function makeHome(folder: string): { sessions: SessionPaths[]; variables: Record<string, string>; close(): void } {
  Deno.mkdirSync(`${folder}/run`, { mode: 0o700 });
  for (const name of ["records", "logs"]) Deno.mkdirSync(`${folder}/outside/${name}`, { recursive: true });
  for (
    const name of [
      ...["secret", "trace.jsonl", "summary.json", "guest.log", "logs/guest.log"],
      ...["records/trace.jsonl", "records/summary.json", "records/guest.log"],
    ]
  ) {
    const text = JSON.stringify({ event: SENTINEL, ts: 1, session_id: SENTINEL, status: SENTINEL });
    Deno.writeTextFileSync(`${folder}/outside/${name}`, `${text}\n`);
  }
  const variables = { BOLL_HOME: `${folder}/home`, XDG_RUNTIME_DIR: `${folder}/run` };
  const home = openHome((name) => variables[name as keyof typeof variables]);
  const places = [0, 1, 2].map((index) => {
    const session = createSession(home);
    using writer = new TraceWriter(session, { now: () => 1 });
    writer.append("session_start", START);
    if (index === 0) {
      writer.append("session_end", { status: "completed", exit_code: 0, ended_by: "guest", duration_ms: 1 });
    }
    Deno.writeTextFileSync(`${session.runtime}/logs/guest.log`, "hello\n");
    if (index < 2) session.close();
    return session;
  });
  return { sessions: places, variables, close: () => places[2]!.close() };
}

function harm({ place, kind, bytes }: Damage, session: SessionPaths, outside: string): void {
  const path = place === "" ? session.root : `${session.root}/${place}`;
  try {
    if (kind === "wrong") {
      return Deno.writeFileSync(path, mutateBytes(Deno.readFileSync(path), []).subarray(bytes.length % 7));
    }
    if (kind === "huge") return Deno.truncateSync(path, 100 * 2 ** 20);
    if (kind === "closed") return Deno.chmodSync(path, 0);
    Deno.removeSync(path, { recursive: true });
  } catch { /* it is not there, and may not be */ }
  try {
    if (kind === "bytes") Deno.writeFileSync(path, bytes);
    else if (kind === "folder") Deno.mkdirSync(path);
    else if (kind === "link") {
      Deno.symlinkSync(place.includes(".") ? `${outside}/records/${place.split("/").at(-1)}` : outside, path);
    } else if (kind === "chain") Deno.symlinkSync(`${outside}/secret`, path);
    else if (kind === "loop") Deno.symlinkSync(path, path);
    else if (kind === "fifo") new Deno.Command("mkfifo", { args: [path] }).outputSync();
    else if (kind === "socket") Deno.listen({ transport: "unix", path }).close();
  } catch { /* nothing can be put where nothing is */ }
}

function factsOf(folder: string): string {
  return [...Deno.readDirSync(folder)].map(({ name, isFile, isDirectory }) => {
    const path = `${folder}/${name}`;
    if (isDirectory) return `${name}(${factsOf(path)})`;
    return isFile ? `${name}=${Deno.readTextFileSync(path)}` : name;
  }).sort().join("\n");
}

const codes: ReadonlySet<number> = new Set([0, 130, ...Object.values(EXIT_STATUS)]);

async function check(harms: readonly Damage[]): Promise<void> {
  const folder = Deno.realPathSync(Deno.makeTempDirSync({ dir: "/tmp", prefix: "b" }));
  const { sessions, variables, close } = makeHome(folder);
  try {
    for (const one of harms) harm(one, sessions[one.session]!, `${folder}/outside`);
    const before = factsOf(`${folder}/outside`);
    for (const { id } of sessions) {
      for (const words of VERBS) await call(words.map((word) => word === "SESSION" ? id : word), variables);
    }
    assertEquals(factsOf(`${folder}/outside`), before, "something outside of the sessions changed");
  } finally {
    close();
    Deno.removeSync(folder, { recursive: true });
  }
}

async function call(argv: readonly string[], variables: Record<string, string>): Promise<void> {
  const captured = captureContext({ variables });
  // A session that runs is followed until somebody stops it.
  const context = { ...captured.context, watchInterrupt: () => AbortSignal.abort() };
  const code = await main(argv, context);
  const [stdout, stderr] = [captured.stdout(), captured.stderr()];
  const said = `boll ${argv.join(" ")}: ${code}\n${stderr.slice(0, 2_000)}`;
  assert(codes.has(code), said);
  assert(!/internal error|\bat .*\.ts:\d+:\d+/.test(stderr), said);
  assert(!stdout.includes(SENTINEL) && !stderr.includes(SENTINEL), `${said}\nwhat a link leads to was read`);
  assert(
    !CONTROL.test(stdout + stderr),
    `${said}\n${JSON.stringify(stdout.slice(0, 2_000))}`,
  );
  if (argv.includes("--json")) {
    for (const text of stdout.split("\n")) if (text !== "") JSON.parse(text);
  }
}

fuzz("verbs over damaged records say what they found, follow no link, wait for no pipe", {
  input: fc.array(damage, { maxLength: 5 }),
  kept: [
    // `boll rm` met the loop while it looked for the lock.
    [{ session: 0, place: "records", kind: "loop", bytes: new Uint8Array() }],
    // `boll trace` walked the value with the stack.
    [{ session: 0, place: "records/trace.jsonl", kind: "bytes", bytes: nestedLine(100_000) }],
    [{ session: 1, place: "records", kind: "link", bytes: new Uint8Array() }],
  ],
  runs: 60,
  check,
});
