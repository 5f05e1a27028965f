/** Frames between processes: a cell that forges and floods, against its parent; a parent that does, against a real cell. */
import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import fc from "fast-check";
import { errorCodeOf } from "../../src/base/mod.ts";
import { NO_GRANTS } from "../../src/grants/mod.ts";
import { decodeFromCell, decodeToCell, encodeFrame, FrameDecoder } from "../../src/protocol/mod.ts";
import { makeTemporaryFolder } from "../../src/records/mod.ts";
import { HttpCall } from "../../src/session/http/http_call.ts";
import { ServingCell } from "../../src/session/cell/serving_cell.ts";
import type { ServeLoad } from "../../src/protocol/mod.ts";
import { REPOSITORY } from "../harness.ts";
import { joinBytes } from "../../src/component/component_fixture.ts";
import { byteMutation, mutateBytes } from "./byte_mutation.ts";
import { fuzz, lateRefusalOf, refusalOf } from "./fuzz.ts";

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constantFrom<unknown>(
      "",
      "response",
      "request",
      "aGVsbG8=",
      "a",
      "x".repeat(70_000),
      "\0",
      "__proto__",
      "resolve",
    ),
    fc.constantFrom<unknown>(0, 1, 2, -1, 1.5, 200, 204, 99, 2 ** 31, 2 ** 53, true, false, null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("name", "kind", "detail", "addresses", "__proto__"), tie("value"), { maxKeys: 3 }),
  ),
}));
const walls = { landlock: false, seccomp: false, abi: 0, worker: true };
const FROM_CELL = [
  { type: "ready", walls },
  { type: "head", id: 1, status: 200, headers: [["a", "b"]] },
  { type: "chunk", id: 1, stream: "response", data: "aGVsbG8=", end: false },
  { type: "chunk", id: 1, stream: "response", data: "", end: true },
  { type: "credit", id: 1, stream: "request", bytes: 65_536 },
  { type: "done", id: 1, value: null },
  { type: "done", id: 1, value: null, error: { kind: "trap", detail: "x" } },
  { type: "log", id: 1, stream: "stderr", text: "hello" },
  { type: "denied", wall: 1, grant: "net", asked: "a", allow: "b" },
  { type: "host_call", id: 1, name: "resolve", args: { name: "a.test" } },
  { type: "usage", memory_percent: 1, bytes_written: 1, output_bytes: 1, stdout_closed: false },
  { type: "failed", code: "cell.crashed", message: "\x1b[2J" },
  { type: "ended", kind: "exit", code: 0 },
  { type: "pong", seq: 1 },
  { type: "nobody_knows" },
];
const grants = {
  ...NO_GRANTS,
  limits: { memory_mb: 16, deadline_ms: 1000, open_files: 16, file_bytes: 1000, work_bytes: 1000 },
};
const load = {
  type: "load",
  kind: "serve",
  concurrency: 1,
  grants,
  args: [],
  env: [],
  folders: { cache: "/nowhere", tmp: "/nowhere" },
  component: {
    key: "k",
    glue: { name: "glue.js", sha256: "0", bytes: 1 },
    code: { name: "glue.code", sha256: "1", bytes: 2 },
    modules: [],
    memories: [],
  },
  kernel: { landlock: false, seccomp: false },
};
const TO_CELL = [
  load,
  { ...load, kind: "run", terminal: [false, false, false] },
  {
    type: "load",
    kind: "build",
    component: "/etc/passwd",
    digest: "sha256:x",
    folder: "/nowhere",
    tmp: "/nowhere",
    memory_mb: 1,
    hull: true,
  },
  { type: "call", id: 1, export: "run" },
  {
    type: "call",
    id: 1,
    request: { method: "GET", scheme: "http", authority: "a", path_with_query: "/", headers: [] },
    has_body: false,
  },
  { type: "cancel", id: 1 },
  { type: "ping", seq: 1 },
  { type: "host_result", id: 1, value: { addresses: ["1.2.3.4"] } },
];

/** Messages of these kinds, with fields changed, taken away, and of other types. */
function messages(known: readonly object[]): fc.Arbitrary<object> {
  const changes = fc.dictionary(
    fc.constantFrom(
      "type",
      "id",
      "status",
      "headers",
      "stream",
      "data",
      "bytes",
      "value",
      "kind",
      "folders",
      "grants",
      "limits",
    ),
    value,
    { maxKeys: 2, noNullPrototype: true },
  );
  return fc.tuple(fc.constantFrom(...known), fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, changes))
    .map(([message, change]) => ({ ...message, ...change }));
}

/** Frames one behind the other, their bytes perhaps done wrong to. */
function stream(known: readonly object[]): fc.Arbitrary<Uint8Array> {
  const lies = ["\0\0\0\x02{}", "\x01\0\0\0", "\xff\xff\xff\xff", "\0\0\0\0", "{}", "\0\0\0\x04null"];
  const pieces = lies.map((text) => Uint8Array.from(text, (character) => character.charCodeAt(0)));
  const wrongs = fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(byteMutation(pieces), { maxLength: 2 }));
  return fc.tuple(fc.array(messages(known), { minLength: 1, maxLength: 12 }), wrongs)
    .map(([list, changes]) => mutateBytes(joinBytes(list.map(encodeFrame)), changes));
}

fuzz("frames are decoded, or refused as a fault of the protocol, however they are cut", {
  input: fc.tuple(stream([...FROM_CELL, ...TO_CELL]), fc.integer({ min: 1, max: 4_000 })),
  runs: 1_000,
  check([bytes, size]) {
    const read = (step: number) => {
      const [heard, decoder] = [[] as string[], new FrameDecoder()];
      const refusal = refusalOf(() => {
        for (let at = 0; at < bytes.length; at += step) {
          for (const message of decoder.push(bytes.subarray(at, at + step))) heard.push(JSON.stringify(message));
        }
        decoder.end();
      });
      return { heard, code: refusal && errorCodeOf(refusal) };
    };
    const [whole, cut] = [read(bytes.length), read(size)];
    assertEquals(cut, whole);
    assert(whole.code === undefined || whole.code.startsWith("protocol."), whole.code);
    for (const text of whole.heard) {
      for (const decode of [decodeFromCell, decodeToCell]) {
        const refusal = refusalOf(() => decode(JSON.parse(text)));
        if (refusal !== undefined) assert(errorCodeOf(refusal)!.startsWith("protocol."), errorCodeOf(refusal));
      }
    }
  },
});

/** Reads an answer to its end; what breaks off is said by an error of its own. */
async function drain(call: HttpCall): Promise<void> {
  const answer = await call.answer;
  if (!("pull" in answer)) return;
  try {
    while (await answer.pull() !== undefined);
  } catch (error) {
    assert(error instanceof Error && error.message.startsWith("Read a response: "), String(error));
  }
}

fuzz("whatever a cell says of a call, in whatever order, the call comes to one end", {
  input: fc.tuple(fc.array(messages(FROM_CELL), { maxLength: 20 }), fc.boolean()),
  runs: 1_000,
  async check([said, hasBody]) {
    const head = { method: "GET", scheme: "http", authority: "a", path_with_query: "/", headers: [] } as const;
    const body = hasBody ? new Blob(["x".repeat(100_000)]).stream() : null;
    const call = new HttpCall({ head, body, maxBodyBytes: 200_000 });
    const sent: object[] = [];
    call.start(1, (message) => void sent.push(message));
    const drained = drain(call);
    for (const message of said) {
      const refusal = refusalOf(() => {
        const decoded = decodeFromCell(JSON.parse(JSON.stringify(message)));
        if (decoded !== undefined) call.receive(decoded);
      });
      // A cell that breaks the protocol is ended, and its calls with it.
      if (refusal !== undefined) break;
    }
    call.finish({ failed: "cell_lost", detail: "" });
    await drained;
    await call.over;
    assert(sent.length < 200, `${sent.length} messages were sent`);
  },
});

const CONFIG = join(REPOSITORY, "deno.json");
const FORGER = join(REPOSITORY, "tests/fuzz/forged_cell.ts");

fuzz("a real process that forges and floods its frames is ended, and its parent says why", {
  input: fc.tuple(stream(FROM_CELL), fc.constantFrom("end", "flood", "stay"), fc.boolean()),
  runs: 8,
  costly: true,
  async check([bytes, then, isReady]) {
    const folder = Deno.makeTempDirSync({ prefix: "boll-fuzz-" });
    try {
      const path = join(folder, "words");
      Deno.writeFileSync(path, isReady ? joinBytes([encodeFrame(FROM_CELL[0]!), bytes]) : bytes);
      const own = {
        program: Deno.execPath(),
        args: ["run", "-A", "--cached-only", "--quiet", `--config=${CONFIG}`, FORGER, path, then],
        env: {},
      };
      let heard = 0;
      await lateRefusalOf(async () => {
        const cell = await ServingCell.start({
          tmp: makeTemporaryFolder(),
          own,
          load: load as unknown as ServeLoad,
          checkWalls: () => {},
          onMessage: () => void heard++,
        });
        const head = { method: "GET", scheme: "http", authority: "a", path_with_query: "/", headers: [] } as const;
        const call = new HttpCall({ head, body: null, maxBodyBytes: 1 });
        cell.open(call);
        const drained = drain(call);
        if (then === "stay") cell.kill("stopped");
        const { fault, exit } = await cell.lost;
        assert(fault === undefined || errorCodeOf(fault) !== "internal", String(fault?.cause ?? fault));
        assert(fault !== undefined || exit !== undefined);
        for (const left of cell.takeCalls()) left.finish({ failed: "cell_lost", detail: "" });
        await drained;
      });
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  },
});

fuzz("a real cell that is told nonsense ends by itself, without a stack", {
  input: stream(TO_CELL),
  runs: 8,
  costly: true,
  async check(bytes) {
    const tmp = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "boll-fuzz-", dir: "/tmp" }));
    try {
      const child = new Deno.Command(join(REPOSITORY, "dist/boll"), {
        clearEnv: true,
        env: { PATH: "/usr/bin:/bin", HOME: tmp, TMPDIR: tmp, BOLL_CHILD: "cell", BOLL_PARENT_PID: String(Deno.pid) },
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const said = new Response(child.stdout).bytes();
      const errors = new Response(child.stderr).text();
      const writer = child.stdin.getWriter();
      await writer.write(bytes).catch(() => {});
      await writer.close().catch(() => {});
      const { signal } = await child.status;
      assert(signal === null, `ended by ${signal}`);
      const text = await errors;
      assert(!/\bat .*:\d+:\d+|panicked|Uncaught/.test(text), text);
      const decoder = new FrameDecoder();
      for (const frame of decoder.push(await said)) decodeFromCell(frame);
      decoder.end();
    } finally {
      Deno.removeSync(tmp, { recursive: true });
    }
  },
});
