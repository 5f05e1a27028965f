import { type Grants, NO_GRANTS } from "../../grants/mod.ts";
import type { Absence, FreeKind } from "./field_table_fixture.ts";
import type { Msg, SpawnPayload, TurnResult, TurnSpec } from "./mod.ts";

const DIGEST = `sha256:${"5a".repeat(32)}`;

const GRANTS: Grants = {
  fs: { work: "rw", mounts: [{ guest: "/data", mode: "ro", host: "/srv" }] },
  env: ["LANG"],
  net: ["https://*.example.com"],
  spawn: ["worker"],
  stdio: true,
  clocks: true,
  random: false,
  limits: {
    memory_mb: 512,
    deadline_ms: 1_000,
    cpu_seconds: 3,
    output_bytes: 9,
    open_files: 256,
    file_bytes: 1,
    work_bytes: 2,
  },
  containment: "scoped",
};

/** What every wire must bring, with the defaults that the decoder adds. */
export const MINIMAL_PAYLOAD: SpawnPayload = {
  instruction: "count the lines",
  context_seed: [],
  capsule: { name: "count", version: "", digest: DIGEST, path: "/capsules/count" },
  grants: { ...NO_GRANTS, limits: { memory_mb: 64, deadline_ms: 1_000, open_files: 16, file_bytes: 1, work_bytes: 1 } },
  mcp_servers: [],
  a2a_peers: [],
  gated_tools: [],
  limits: { max_steps: 1, max_tokens: 1, deadline_ms: 1, max_depth: 1 },
  telemetry: { run_id: "r", agent_id: "a", agent_path: "0", log_level: "info", log_content: false },
  depth: 0,
  warm: false,
  role: "command",
  places: { session_id: `ses_${"0".repeat(32)}`, root: "/home/s", work: "/home/s/work", cache: "/home/cache" },
  args: [],
  env: [],
};

/** One message of each kind of a transcript. */
export const EVERY_MSG: readonly Msg[] = [
  { role: "system", text: "s", ts: 1 },
  { role: "user", text: "u", principal: "somebody", ts: 2 },
  {
    role: "assistant",
    text: "a",
    tool_calls: [{ id: "c", name: "t", arguments: { x: [1] } }],
    reasoning: { model: "openai m", kept: "{}" },
    ts: 3,
  },
  { role: "tool", id: "c", name: "t", content: "é漢😀", is_error: false, ts: 4 },
  { role: "note", text: "n", ts: 5 },
];

/** A turn of an empty conversation that asks for nothing. */
export const EMPTY_TURN: TurnSpec = {
  kind: "turn",
  system: "",
  messages: [],
  tools: [],
  internal: [],
  mcp_routes: {},
  max_rounds: 0,
  budget_admission: false,
  idempotency_prefix: "",
  max_tokens_per_call: 0,
  turn_id: "",
};

export const FULL_TURN: TurnSpec = {
  kind: "think",
  system: "be brief",
  messages: EVERY_MSG,
  tools: [{ name: "t", description: "does", input_schema: { type: "object" } }],
  internal: ["delegate-task"],
  mcp_routes: { search: ["web", "search"], ["__proto__"]: ["web", "odd"] },
  output_schema: { type: "object", properties: { pattern: { type: "string" } } },
  max_rounds: 3,
  budget_admission: true,
  idempotency_prefix: "ctx/1",
  tool_meta: { t: { mutates: true } },
  temperature: 0.5,
  max_tokens_per_call: 100,
  turn_id: "trn",
};

export const FULL_PAYLOAD: SpawnPayload = {
  ...MINIMAL_PAYLOAD,
  output_contract: "one number",
  output_schema: { type: "integer" },
  context_seed: [{ role: "boll/allowed-tools", content: '["a*"]' }, { role: "user", content: "hello" }],
  capsule: { name: "count", version: "1.0.0", digest: DIGEST, path: "/capsules/count" },
  grants: GRANTS,
  intelligence: {
    uri: "https://a.example,https://b.example",
    token: "credential",
    credential: "API_KEY",
    model: "m",
    headers: [["x-team", "1"]],
    dialect: "anthropic",
  },
  mcp_servers: [{ name: "web", url: "https://mcp.example", token: "t", headers: [["a", "b"]] }],
  a2a_peers: [{ name: "peer", url: "https://peer.example", token: "t", headers: [["a", "b"]] }],
  tls_ca: "/etc/ca.pem",
  gated_tools: ["delegate-task"],
  limits: {
    max_steps: 500,
    max_tokens: 2_000_000,
    deadline_ms: 3_600_000,
    max_depth: 4,
    memory_bytes: 1,
    cpu_seconds: 2,
    nice: 10,
  },
  telemetry: {
    run_id: "r",
    agent_id: "a",
    agent_path: "0.2.1",
    trace_id: "t",
    log_level: "debug",
    log_content: true,
  },
  depth: 2,
  warm: true,
  interactive: true,
  role: "turn",
  turn: FULL_TURN,
  args: ["a", ""],
  env: [["LANG", "C"]],
  upstream: { proxy: "http://127.0.0.1:3128", ca_certs: ["PEM"] },
  door: {
    hostname: "127.0.0.1",
    port: 8080,
    open: false,
    names: ["agents.example"],
    accept: "queue",
    queue_depth: 256,
    idempotent: true,
    input_timeout_ms: 60_000,
    token_hash: "ab".repeat(32),
    peers: [{ name: "friend", token_hash: "cd".repeat(32) }],
    service: { folder: "/home/services/n" },
  },
};

export const FULL_TURN_RESULT: TurnResult = {
  status: "failed",
  messages: EVERY_MSG,
  text: "t",
  value: { a: null },
  usage: { input_tokens: 1, output_tokens: 2 },
  rounds: 3,
  tool_calls: 4,
  error: { code: "model.down", message: "no answer" },
  finish: { status: "completed", output: [1], reason: "done", exit: true },
};

const REQUIRED = "required", ABSENT = "absent";

/** Fields of {@link FULL_PAYLOAD} that are free inside. */
export const PAYLOAD_FREE: Record<string, FreeKind> = {
  output_schema: "schema",
  "turn.output_schema": "schema",
  "turn.tools[0].input_schema": "schema",
  "turn.mcp_routes": "object",
  "turn.tool_meta": "object",
  "turn.temperature": "number",
  "turn.messages[2].tool_calls[0].arguments": "json",
};

/** Fields of {@link FULL_TURN_RESULT} that are free inside. */
export const TURN_RESULT_FREE: Record<string, FreeKind> = {
  "turn.value": "json",
  "turn.finish.output": "json",
  "turn.messages[2].tool_calls[0].arguments": "json",
};

function rows(prefix: string, fields: Record<string, Absence>): Record<string, Absence> {
  return Object.fromEntries(Object.entries(fields).map(([name, absence]) => [`${prefix}${name}`, absence]));
}

/** The rows of {@link EVERY_MSG} in a field of that path. */
export function msgRows(path: string): Record<string, Absence> {
  return {
    ...rows(`${path}[0].`, { role: REQUIRED, text: REQUIRED, ts: REQUIRED }),
    ...rows(`${path}[1].`, { role: REQUIRED, text: REQUIRED, principal: ABSENT, ts: REQUIRED }),
    ...rows(`${path}[2].`, {
      role: REQUIRED,
      text: ABSENT,
      tool_calls: { default: [] },
      reasoning: ABSENT,
      ts: REQUIRED,
    }),
    ...rows(`${path}[2].reasoning.`, { model: REQUIRED, kept: REQUIRED }),
    ...rows(`${path}[2].tool_calls[0].`, { id: REQUIRED, name: REQUIRED, arguments: REQUIRED }),
    ...rows(`${path}[3].`, {
      role: REQUIRED,
      id: REQUIRED,
      name: REQUIRED,
      content: REQUIRED,
      is_error: REQUIRED,
      ts: REQUIRED,
    }),
    ...rows(`${path}[4].`, { role: REQUIRED, text: REQUIRED, ts: REQUIRED }),
  };
}

const REMOTE_ROWS = { name: REQUIRED, url: REQUIRED, token: ABSENT, headers: { default: [] } } as const;

/** The rows of {@link FULL_PAYLOAD}. */
export const PAYLOAD_ROWS: Record<string, Absence> = {
  instruction: REQUIRED,
  output_contract: ABSENT,
  output_schema: ABSENT,
  context_seed: { default: [] },
  ...rows("context_seed[0].", { role: REQUIRED, content: REQUIRED }),
  ...rows("context_seed[1].", { role: REQUIRED, content: REQUIRED }),
  capsule: REQUIRED,
  ...rows("capsule.", { name: REQUIRED, version: REQUIRED, digest: REQUIRED, path: REQUIRED }),
  grants: REQUIRED,
  ...rows("grants.", {
    fs: REQUIRED,
    "fs.work": ABSENT,
    "fs.mounts": REQUIRED,
    "fs.mounts[0].guest": REQUIRED,
    "fs.mounts[0].mode": REQUIRED,
    "fs.mounts[0].host": REQUIRED,
    env: REQUIRED,
    net: REQUIRED,
    spawn: REQUIRED,
    stdio: REQUIRED,
    clocks: REQUIRED,
    random: REQUIRED,
    limits: REQUIRED,
    "limits.memory_mb": REQUIRED,
    "limits.deadline_ms": REQUIRED,
    "limits.cpu_seconds": ABSENT,
    "limits.output_bytes": ABSENT,
    "limits.open_files": REQUIRED,
    "limits.file_bytes": REQUIRED,
    "limits.work_bytes": REQUIRED,
    containment: ABSENT,
  }),
  intelligence: REQUIRED,
  ...rows("intelligence.", {
    uri: REQUIRED,
    token: ABSENT,
    credential: ABSENT,
    model: ABSENT,
    headers: { default: [] },
    dialect: ABSENT,
  }),
  mcp_servers: { default: [] },
  ...rows("mcp_servers[0].", REMOTE_ROWS),
  a2a_peers: { default: [] },
  ...rows("a2a_peers[0].", REMOTE_ROWS),
  tls_ca: ABSENT,
  gated_tools: { default: [] },
  limits: REQUIRED,
  ...rows("limits.", {
    max_steps: REQUIRED,
    max_tokens: REQUIRED,
    deadline_ms: REQUIRED,
    max_depth: REQUIRED,
    memory_bytes: ABSENT,
    cpu_seconds: ABSENT,
    nice: ABSENT,
  }),
  telemetry: REQUIRED,
  ...rows("telemetry.", {
    run_id: REQUIRED,
    agent_id: REQUIRED,
    agent_path: REQUIRED,
    trace_id: ABSENT,
    log_level: REQUIRED,
    log_content: { default: false },
  }),
  depth: REQUIRED,
  warm: { default: false },
  interactive: ABSENT,
  role: { default: "agent" },
  turn: REQUIRED,
  ...rows("turn.", {
    kind: { default: "turn" },
    system: REQUIRED,
    messages: { default: [] },
    ...msgRows("messages"),
    tools: { default: [] },
    "tools[0].name": REQUIRED,
    "tools[0].description": ABSENT,
    "tools[0].input_schema": REQUIRED,
    internal: { default: [] },
    mcp_routes: { default: {} },
    output_schema: ABSENT,
    max_rounds: { default: 0 },
    budget_admission: { default: false },
    idempotency_prefix: { default: "" },
    tool_meta: ABSENT,
    temperature: ABSENT,
    max_tokens_per_call: { default: 0 },
    turn_id: { default: "" },
  }),
  places: REQUIRED,
  ...rows("places.", { session_id: REQUIRED, root: REQUIRED, work: REQUIRED, cache: REQUIRED }),
  args: { default: [] },
  env: { default: [] },
  upstream: ABSENT,
  ...rows("upstream.", { proxy: ABSENT, ca_certs: ABSENT }),
  door: ABSENT,
  ...rows("door.", {
    hostname: REQUIRED,
    port: REQUIRED,
    open: REQUIRED,
    names: { default: [] },
    accept: REQUIRED,
    queue_depth: REQUIRED,
    idempotent: { default: false },
    input_timeout_ms: ABSENT,
    token_hash: ABSENT,
    peers: { default: [] },
    "peers[0].name": REQUIRED,
    "peers[0].token_hash": REQUIRED,
    service: ABSENT,
    "service.folder": REQUIRED,
  }),
};

/** The rows of {@link FULL_TURN_RESULT}. */
export const TURN_RESULT_ROWS: Record<string, Absence> = {
  turn: REQUIRED,
  ...rows("turn.", {
    status: REQUIRED,
    messages: { default: [] },
    ...msgRows("messages"),
    text: ABSENT,
    value: ABSENT,
    usage: { default: { input_tokens: 0, output_tokens: 0 } },
    "usage.input_tokens": { default: 0 },
    "usage.output_tokens": { default: 0 },
    rounds: { default: 0 },
    tool_calls: { default: 0 },
    error: ABSENT,
    "error.code": REQUIRED,
    "error.message": REQUIRED,
    finish: ABSENT,
    "finish.status": REQUIRED,
    "finish.output": { default: null },
    "finish.reason": { default: "" },
    "finish.exit": { default: false },
  }),
};
