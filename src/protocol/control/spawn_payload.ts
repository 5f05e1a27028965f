import { isId } from "../../base/mod.ts";
import type { Grants } from "../../grants/mod.ts";
import { isAbsolute } from "@std/path";
import { decodeGrants } from "../decode_grants.ts";
import { Fields, pairItem, textItem } from "../fields.ts";
import { decodeDoorSpec, type DoorSpec } from "./door_spec.ts";
import { decodeIntelligence, type Intelligence, type Remote, remoteItem } from "./intelligence.ts";
import { type JsonSchema, jsonSchema } from "./opaque_json.ts";
import { decodeSessionLimits, type SessionLimits } from "./session_limits.ts";
import { LINE, NAME, TEXT } from "./text_bounds.ts";
import { decodeTurnSpec, type TurnSpec } from "./turn.ts";

/** The seed role that carries the tool grant: only a supervisor may mint an entry of it. */
export const ALLOWED_TOOLS_ROLE = "boll/allowed-tools";

const SEED_ROLES = ["system", "user", "assistant", "tool", ALLOWED_TOOLS_ROLE] as const;

/** One entry of the context that a parent chose for its child. */
export interface SeedMessage {
  readonly role: typeof SEED_ROLES[number];
  readonly content: string;
}

/** Stamped on every log line of a session. */
export interface Telemetry {
  readonly run_id: string;
  readonly agent_id: string;
  /** Dotted: `0`, `0.2`, `0.2.1`. */
  readonly agent_path: string;
  readonly trace_id?: string;
  readonly log_level: typeof LOG_LEVELS[number];
  readonly log_content: boolean;
}

/** How much a session logs. */
export const LOG_LEVELS = ["error", "warn", "info", "debug"] as const;

/** Where a session finds and keeps things: absolute real paths. */
export interface SessionPlaces {
  readonly session_id: string;
  /** The session's folder, with its records and its runtime folder. */
  readonly root: string;
  readonly work: string;
  /** The folder of cached components. */
  readonly cache: string;
}

/** The operator's way out, for the session's own gate. */
export interface Upstream {
  readonly proxy?: string;
  /** PEM certificates to trust beside the built-in ones. */
  readonly ca_certs?: readonly string[];
}

/** The capsule to run. */
export interface PayloadCapsule {
  readonly name: string;
  /** Empty for a bare component. */
  readonly version: string;
  /** `sha256:<hex>`, checked again by the child. */
  readonly digest: string;
  readonly path: string;
}

/** Everything a session is given, first and once: its task and its whole authority. Holds credentials. */
export interface SpawnPayload {
  readonly instruction: string;
  /** The required shape and boundaries of the result, in prose. */
  readonly output_contract?: string;
  readonly output_schema?: JsonSchema;
  readonly context_seed: readonly SeedMessage[];
  readonly capsule: PayloadCapsule;
  readonly grants: Grants;
  /** Absent only for the role `command`. */
  readonly intelligence?: Intelligence;
  readonly mcp_servers: readonly Remote[];
  readonly a2a_peers: readonly Remote[];
  readonly tls_ca?: string;
  /** Tools that the child must send up. */
  readonly gated_tools: readonly string[];
  readonly limits: SessionLimits;
  readonly telemetry: Telemetry;
  /** 0 is the root. */
  readonly depth: number;
  readonly warm: boolean;
  /** Somebody is there to answer what it asks. */
  readonly interactive?: boolean;
  readonly role: "agent" | "turn" | "command";
  /** There when the role is `turn`. */
  readonly turn?: TurnSpec;
  readonly places: SessionPlaces;
  /** What the guest of a command capsule is told: never in a process's own arguments or environment. */
  readonly args: readonly string[];
  readonly env: readonly (readonly [name: string, value: string])[];
  readonly upstream?: Upstream;
  /** The session opens a door, and takes its turns from there. */
  readonly door?: DoorSpec;
}

/** @throws `protocol.bad_field` naming the field */
export function decodeSpawnPayload(fields: Fields): SpawnPayload {
  const role = fields.orElse("role", "agent", (name) => fields.oneOf(name, ["agent", "turn", "command"] as const));
  if (role !== "command" && !fields.has("intelligence")) fields.fail("intelligence", "there");
  if (role === "turn" && !fields.has("turn")) fields.fail("turn", "there");
  return {
    instruction: fields.string("instruction", TEXT),
    ...fields.optional("output_contract", (name) => fields.string(name, TEXT)),
    ...fields.optional("output_schema", (name) => jsonSchema(fields, name)),
    context_seed: fields.orElse("context_seed", [], (name) => fields.list(name, seedItem)),
    capsule: decodeCapsule(fields.object("capsule")),
    grants: decodeGrants(fields.object("grants")),
    ...fields.optional("intelligence", (name) => decodeIntelligence(fields.object(name))),
    mcp_servers: fields.orElse("mcp_servers", [], (name) => fields.list(name, remoteItem, { max: 256 })),
    a2a_peers: fields.orElse("a2a_peers", [], (name) => fields.list(name, remoteItem, { max: 256 })),
    ...fields.optional("tls_ca", (name) => absolutePath(fields, name)),
    gated_tools: fields.orElse("gated_tools", [], (name) => fields.list(name, textItem, { max: 4_096 })),
    limits: decodeSessionLimits(fields.object("limits")),
    telemetry: decodeTelemetry(fields.object("telemetry")),
    depth: fields.integer("depth"),
    warm: fields.orElse("warm", false, (name) => fields.boolean(name)),
    ...fields.optional("interactive", (name) => fields.boolean(name)),
    role,
    ...fields.optional("turn", (name) => decodeTurnSpec(fields.object(name))),
    places: decodePlaces(fields.object("places")),
    args: fields.orElse("args", [], (name) => fields.list(name, textItem)),
    env: fields.orElse("env", [], (name) => fields.list(name, pairItem)),
    ...fields.optional("upstream", (name) => decodeUpstream(fields.object(name))),
    ...fields.optional("door", (name) => decodeDoorSpec(fields.object(name))),
  };
}

function seedItem(item: unknown, path: string): SeedMessage {
  const fields = new Fields(item, path);
  return { role: fields.oneOf("role", SEED_ROLES), content: fields.string("content", TEXT) };
}

function decodeCapsule(fields: Fields): PayloadCapsule {
  const digest = fields.string("digest", { max: 71 });
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) fields.fail("digest", "sha256: and 64 hex digits");
  return {
    name: fields.string("name", NAME),
    version: fields.string("version", NAME),
    digest,
    path: absolutePath(fields, "path"),
  };
}

function decodeTelemetry(fields: Fields): Telemetry {
  const path = fields.string("agent_path", NAME);
  if (!/^\d+(\.\d+)*$/.test(path)) fields.fail("agent_path", "numbers with dots between them");
  return {
    run_id: fields.string("run_id", NAME),
    agent_id: fields.string("agent_id", NAME),
    agent_path: path,
    ...fields.optional("trace_id", (name) => fields.string(name, NAME)),
    log_level: fields.oneOf("log_level", LOG_LEVELS),
    log_content: fields.orElse("log_content", false, (name) => fields.boolean(name)),
  };
}

function decodePlaces(fields: Fields): SessionPlaces {
  const id = fields.string("session_id", NAME);
  if (!isId(id, "ses")) fields.fail("session_id", "the id of a session");
  return {
    session_id: id,
    root: absolutePath(fields, "root"),
    work: absolutePath(fields, "work"),
    cache: absolutePath(fields, "cache"),
  };
}

function decodeUpstream(fields: Fields): Upstream {
  return {
    ...fields.optional("proxy", (name) => fields.string(name, LINE)),
    ...fields.optional("ca_certs", (name) => fields.list(name, textItem, { max: 1_024 })),
  };
}

function absolutePath(fields: Fields, name: string): string {
  const path = fields.string(name, LINE);
  if (!isAbsolute(path) || path.includes("\0")) fields.fail(name, "an absolute path");
  return path;
}
