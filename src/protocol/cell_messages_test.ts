import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import fc from "fast-check";
import { CapsuleError } from "../base/mod.ts";
import { DEFAULT_LIMITS } from "../grants/mod.ts";
import {
  decodeChunkData,
  decodeFromCell,
  decodeToCell,
  encodeChunkData,
  type FromCell,
  MAX_CHUNK_BYTES,
  MAX_HEAD_BYTES,
  MAX_HEAD_FIELDS,
  type RunLoad,
  STREAM_WINDOW_BYTES,
  type ToCell,
} from "./mod.ts";

const USAGE = { memory_percent: 1, bytes_written: 3, output_bytes: 4, stdout_closed: false };

const UP: FromCell[] = [
  { type: "hello", nonce: "ab" },
  { type: "ready", walls: { landlock: true, seccomp: true, abi: 7, worker: false } },
  { type: "denied", wall: 1, grant: "fs", asked: "open /x", allow: "--mount" },
  { type: "usage", ...USAGE },
  { type: "pong", seq: 7 },
  { type: "host_call", id: 3, name: "resolve", args: { name: "api.example.com" } },
  { type: "done", id: 0, value: { any: [1] } },
  { type: "done", id: 9, value: undefined, error: { kind: "trap", detail: "unreachable" } },
  { type: "head", id: 9, status: 200, headers: [["content-type", "text/plain"], ["x", "\xe9\t"]] },
  { type: "chunk", id: 9, stream: "response", data: "aGk=", end: false },
  { type: "credit", id: 9, stream: "request", bytes: 65_536 },
  { type: "log", id: 9, stream: "stderr", text: "a line" },
  { type: "failed", code: "component.invalid", message: "Build component: no" },
  { type: "ended", kind: "exit", code: 255 },
  { type: "ended", kind: "limit", limit: "output" },
  { type: "ended", kind: "trap", trap: "stack", detail: "RangeError" },
];

const MINIMAL: RunLoad = {
  type: "load",
  kind: "run",
  grants: { fs: { mounts: [] }, env: [], net: [], stdio: true, clocks: true, random: true, limits: DEFAULT_LIMITS },
  args: [],
  env: [],
  folders: { cache: "/c", tmp: "/t" },
  component: { key: "k", glue: { name: "g.js", sha256: "aa", bytes: 1 }, modules: [], memories: [] },
  kernel: { landlock: true, seccomp: false },
  terminal: [false, true, false],
};

const DOWN: ToCell[] = [
  MINIMAL,
  {
    ...MINIMAL,
    grants: {
      ...MINIMAL.grants,
      fs: { work: "rw", mounts: [{ guest: "/data", mode: "ro", host: "/srv" }] },
      env: ["LANG"],
      net: ["https://*.example.com", "listen:8080"],
      limits: { ...DEFAULT_LIMITS, cpu_seconds: 3, output_bytes: 9 },
      containment: "scoped",
    },
    network: { gate_port: 40_000, credential: "c", ca_certs: ["PEM"], udp_peers: ["192.0.2.1:53"] },
    args: ["a", "b"],
    env: [["LANG", "C"]],
    folders: { cache: "/c", tmp: "/t", work: "/w" },
    component: {
      ...MINIMAL.component,
      modules: [{ name: "m.wasm", sha256: "bb", bytes: 2 }],
      memories: [{ module: "m.wasm", page_bytes: 1, min_pages: 0, max_pages: 9 }],
    },
  },
  {
    type: "load",
    kind: "serve",
    grants: MINIMAL.grants,
    args: [],
    env: [],
    folders: MINIMAL.folders,
    component: MINIMAL.component,
    kernel: MINIMAL.kernel,
    concurrency: 8,
  },
  {
    type: "load",
    kind: "build",
    component: "/c.wasm",
    digest: `sha256:${"5a".repeat(32)}`,
    folder: "/f",
    tmp: "/t",
    memory_mb: 64,
    hull: false,
  },
  { type: "call", id: 0, export: "wasi:cli/run" },
  {
    type: "call",
    id: 1,
    request: {
      method: "POST",
      scheme: "http",
      authority: "a.example:8080",
      path_with_query: "/x?y",
      headers: [["accept", "*/*"]],
    },
    has_body: true,
  },
  { type: "chunk", id: 1, stream: "request", data: "", end: true },
  { type: "credit", id: 1, stream: "response", bytes: 1 },
  { type: "cancel", id: 1 },
  { type: "host_result", id: 3, value: { addresses: ["192.0.2.1", "2001:db8::1"] } },
  { type: "host_result", id: 4, error: "denied" },
  { type: "ping", seq: 2 },
];

function wire(message: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(message));
}

/** Every way to write one leaf of `message` wrongly, with its dotted path. */
function* withBrokenLeaf(message: Record<string, unknown>, path = ""): Generator<[string, Record<string, unknown>]> {
  for (const [key, value] of Object.entries(message)) {
    if (key === "type" || key === "value") continue;
    const wrongs = typeof value === "number" ? [-1, 1.5, 2 ** 53, "1", null, []] : [{ toString: 1 }, null, 7];
    for (const wrong of wrongs) {
      yield [`${path}${key}`, { ...message, [key]: wrong }];
    }
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      for (const [at, broken] of withBrokenLeaf(value as Record<string, unknown>, `${path}${key}.`)) {
        yield [at, { ...message, [key]: broken }];
      }
    }
  }
}

Deno.test("decodeFromCell: every message round-trips; unknown fields are dropped, an unknown type is undefined", () => {
  for (const message of UP) assertEquals(decodeFromCell({ ...wire(message), extra: 1 }), message);
  assertEquals(decodeFromCell({ type: "novel" }), undefined);
});

Deno.test("decodeToCell: every message round-trips; an unknown type is refused", () => {
  for (const message of DOWN) assertEquals(decodeToCell({ ...wire(message), extra: 1 }), message);
  assertEquals(assertThrows(() => decodeToCell({ type: "novel" }), CapsuleError).code, "protocol.unexpected");
});

Deno.test("decode: a missing or wrong field is a fault that names it and never shows the value", () => {
  const cases = [
    ...UP.map((message) => [decodeFromCell, wire(message)] as const),
    ...DOWN.map((message) => [decodeToCell, wire(message)] as const),
  ];
  for (const [decode, message] of cases) {
    for (const [path, broken] of withBrokenLeaf(message)) {
      const error = assertThrows(() => decode(broken), CapsuleError);
      assertEquals(error.code, "protocol.bad_field", `${message["type"]} ${path}`);
      assertMatch(error.message, new RegExp(path.split(".").at(-1)!));
    }
  }
});

Deno.test("decodeFromCell: bounds on what an enemy may say", () => {
  const ended = { type: "ended", kind: "exit", code: 256 };
  assertThrows(() => decodeFromCell(ended), CapsuleError);
  assertEquals(decodeFromCell({ ...ended, code: 255 })?.type, "ended");
  const long = { type: "denied", wall: 1, grant: "fs", allow: "", asked: "x".repeat(8_193) };
  assertThrows(() => decodeFromCell(long), CapsuleError);
  assertEquals(decodeFromCell({ ...long, asked: "x".repeat(8_192) })?.type, "denied");
  const call = { type: "host_call", id: 0, name: "resolve", args: { name: "x".repeat(256) } };
  assertThrows(() => decodeFromCell(call), CapsuleError);
  assertEquals(decodeFromCell({ ...call, args: { name: "x".repeat(255) } })?.type, "host_call");
  assertThrows(() => decodeFromCell({ ...call, name: "delegate" }), CapsuleError);
});

Deno.test("decodeFromCell: bounds of a head, a chunk, a credit and a log", () => {
  const refuse = (message: object) => {
    assertEquals(assertThrows(() => decodeFromCell(wire(message)), CapsuleError).code, "protocol.bad_field");
  };
  const allow = (message: object) => assertEquals(decodeFromCell(wire(message)) !== undefined, true);
  const head = { type: "head", id: 0, status: 200, headers: [] as string[][] };
  for (const status of [200, 599]) allow({ ...head, status });
  for (const status of [0, 101, 199, 600]) refuse({ ...head, status });
  for (const value of ["a\r\nb: c", "a\nb", "a\0", "\x7f", "\u0100"]) refuse({ ...head, headers: [["x", value]] });
  for (const name of ["", "a b", "a:", "a\r\n", "é"]) refuse({ ...head, headers: [[name, "v"]] });
  allow({ ...head, headers: Array(MAX_HEAD_FIELDS).fill(["a", "b"]) });
  refuse({ ...head, headers: Array(MAX_HEAD_FIELDS + 1).fill(["a", "b"]) });
  allow({ ...head, headers: [["a", "b".repeat(MAX_HEAD_BYTES - 1)]] });
  refuse({ ...head, headers: [["a", "b".repeat(MAX_HEAD_BYTES)]] });
  const chunk = { type: "chunk", id: 0, stream: "response", end: false };
  allow({ ...chunk, data: encodeChunkData(new Uint8Array(MAX_CHUNK_BYTES)) });
  refuse({ ...chunk, data: encodeChunkData(new Uint8Array(MAX_CHUNK_BYTES + 3)) });
  allow({ type: "credit", id: 0, stream: "request", bytes: STREAM_WINDOW_BYTES });
  refuse({ type: "credit", id: 0, stream: "request", bytes: STREAM_WINDOW_BYTES + 1 });
  allow({ type: "log", id: 0, stream: "stdout", text: "x".repeat(8_192) });
  refuse({ type: "log", id: 0, stream: "stdout", text: "x".repeat(8_193) });
});

Deno.test("decodeChunkData: what was encoded, and nothing that is not base64", () => {
  const chunk = (data: string) => ({ type: "chunk", id: 0, stream: "response", data, end: true } as const);
  const bytes = new Uint8Array([0, 255, 10]);
  assertEquals(decodeChunkData(chunk(encodeChunkData(bytes))), bytes);
  assertEquals(assertThrows(() => decodeChunkData(chunk("%%%")), CapsuleError).code, "protocol.bad_field");
});

Deno.test("decode: no inherited property is a field", () => {
  const inherited = Object.create({ type: "pong", seq: 1 }) as Record<string, unknown>;
  assertThrows(() => decodeFromCell(inherited), CapsuleError);
  assertThrows(() => decodeFromCell(JSON.parse('{"__proto__":{"type":"pong","seq":1}}')), CapsuleError);
});

Deno.test("decode: any JSON object is decoded or refused, never anything else", () => {
  const types = fc.constantFrom(...UP.map(({ type }) => type), ...DOWN.map(({ type }) => type));
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(fc.property(types, object, (type, fields) => {
    for (const decode of [decodeFromCell, decodeToCell]) {
      try {
        decode({ ...fields, type });
      } catch (error) {
        if (!(error instanceof CapsuleError)) throw error;
      }
    }
  }));
});
