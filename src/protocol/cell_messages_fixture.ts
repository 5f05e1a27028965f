import { DEFAULT_LIMITS, NO_GRANTS } from "../grants/mod.ts";
import type { FromCell, RunLoad, ToCell } from "./mod.ts";

const USAGE = { memory_percent: 1, bytes_written: 3, output_bytes: 4, stdout_closed: false };

/** Messages of every kind that a cell says. */
export const FROM_CELL: readonly FromCell[] = [
  { type: "hello", nonce: "ab" },
  { type: "ready", walls: { landlock: true, seccomp: true, abi: 7, worker: false } },
  { type: "denied", wall: 1, grant: "fs", asked: "open /x", allow: "--mount" },
  { type: "usage", ...USAGE },
  { type: "pong", seq: 7 },
  { type: "running", id: 7 },
  { type: "host_call", id: 3, name: "resolve", args: { name: "api.example.com" } },
  { type: "host_call", id: 4, name: "delegate", args: { capsule: "worker", task: "count\0", mounts: [] } },
  {
    type: "host_call",
    id: 5,
    name: "delegate",
    args: {
      capsule: "local/worker",
      version: "0.1.0",
      task: "",
      mounts: [["/data", "/docs"], ["/a", "/b"]],
      deadline_ms: 1,
    },
  },
  { type: "host_call", id: 6, name: "delegate", args: { capsule: "w", task: "", mounts: [] }, call: 2 },
  { type: "host_call", id: 7, name: "log", args: { call: 2, level: "warn", text: "a line" } },
  { type: "host_call", id: 8, name: "emit", args: { call: 2, text: "half" } },
  { type: "host_call", id: 9, name: "request-input", args: { call: 2, question: "which?" } },
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

const DELEGATION = `dlg_${"0a".repeat(16)}`;

const MINIMAL: RunLoad = {
  type: "load",
  kind: "run",
  grants: NO_GRANTS,
  args: [],
  env: [],
  folders: { cache: "/c", tmp: "/t" },
  component: {
    key: "k",
    glue: { name: "g.js", sha256: "aa", bytes: 1 },
    code: { name: "g.code", sha256: "bb", bytes: 2 },
    modules: [],
    memories: [],
  },
  kernel: { landlock: true, seccomp: false },
  terminal: [false, true, false],
};

/** Messages of every kind that a cell is told. */
export const TO_CELL: readonly ToCell[] = [
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
    kind: "tools",
    grants: MINIMAL.grants,
    env: [["LANG", "C"]],
    folders: { tmp: "/t", work: "/w" },
    kernel: MINIMAL.kernel,
    tools: [
      { name: "list-files", folder: "/c/1", component: MINIMAL.component },
      { name: "read-file", folder: "/c/2", component: MINIMAL.component },
    ],
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
  { type: "call", id: 4, tool: "list-files" },
  { type: "call", id: 5, tool: "list-files", input: "e30=" },
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
  { type: "host_result", id: 5, value: { delegation_id: DELEGATION } },
  { type: "host_result", id: 6, error: { kind: "refused", message: "spawn: worker is not granted" } },
  { type: "host_result", id: 7, value: { input: "that one" } },
  { type: "delegation_end", delegation_id: DELEGATION, text: "[delegate-task] …" },
  { type: "ping", seq: 2 },
];
