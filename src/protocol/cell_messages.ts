import { CapsuleError } from "../base/mod.ts";
import { Fields, textItem } from "./fields.ts";
import type { Grants } from "../grants/mod.ts";
import {
  type CallError,
  decodeCallError,
  decodeChunk,
  decodeCredit,
  decodeHead,
  decodeHttpCall,
  decodeLog,
  type FromServingCell,
  type ToServingCell,
} from "./http_messages.ts";

/** One file of a cached component: name, SHA-256 (lower-case hex), size in bytes. */
export interface CellFile {
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** One linear memory and its cap, in its own pages. */
export interface CellMemory {
  readonly module: string;
  readonly page_bytes: number;
  readonly min_pages: number;
  readonly max_pages: number;
}

/** Where a cell finds and keeps things: absolute real paths. */
export interface CellFolders {
  /** The component's folder in the cache. */
  readonly cache: string;
  /** The cell's private HOME and TMPDIR. */
  readonly tmp: string;
  /** The work folder, when it is granted. */
  readonly work?: string;
}

/** A cell's way to the network: the gate in its parent. The credential is the host's and never the guest's. */
export interface CellNetwork {
  /** On 127.0.0.1. */
  readonly gate_port: number;
  /** For this cell alone. */
  readonly credential: string;
  /** PEM certificates to trust beside the built-in ones. */
  readonly ca_certs: readonly string[];
  /** The peers of `udp` entries, as `address:port`, resolved by the parent. */
  readonly udp_peers: readonly string[];
}

/** What a run cell is given, first and once: its whole authority and what to run. */
export interface RunLoad {
  readonly type: "load";
  readonly kind: "run";
  /** Limits and mounts (with their hosts) are inside. */
  readonly grants: Grants;
  readonly args: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly folders: CellFolders;
  readonly component: {
    readonly key: string;
    readonly glue: CellFile;
    readonly modules: readonly CellFile[];
    readonly memories: readonly CellMemory[];
  };
  /** The parts of wall 4 that this host has, to be raised (none under `deno run`, where no hull can hold). */
  readonly kernel: { readonly landlock: boolean; readonly seccomp: boolean };
  /** The way out; present exactly when `grants.net` is not empty. */
  readonly network?: CellNetwork;
  /** Which of descriptors 0-2 are terminals, as the user's own process sees them. */
  readonly terminal: readonly [boolean, boolean, boolean];
}

/** What a serving cell is given, first and once: as a run cell, and how many requests it works on at once. */
export interface ServeLoad extends Omit<RunLoad, "kind" | "terminal"> {
  readonly kind: "serve";
  /** 1 to 1000. */
  readonly concurrency: number;
}

/** What a build cell is given: a component to describe, check and transpile into `folder`. */
export interface BuildLoad {
  readonly type: "load";
  readonly kind: "build";
  readonly component: string;
  /** `sha256:<hex>` of the bytes that are wanted: what else lies there by now is refused. */
  readonly digest: string;
  readonly folder: string;
  readonly tmp: string;
  readonly memory_mb: number;
  readonly hull: boolean;
}

/** Parent to cell (control protocol §7). */
export type ToCell =
  | RunLoad
  | ServeLoad
  | BuildLoad
  | ToServingCell
  | { readonly type: "call"; readonly id: number; readonly export: string }
  | ({ readonly type: "host_result" } & HostResult)
  | { readonly type: "ping"; readonly seq: number };

/**
 * What a guest's host asks of the parent, by number: `resolve`, the addresses of a granted name. The parent asks its gate,
 * which knows the grants itself.
 */
export interface HostCall {
  readonly id: number;
  readonly name: "resolve";
  readonly args: { readonly name: string };
}

/** The answer to the call of that number: addresses (64 at most), or the gate's word for why there are none. */
export type HostResult =
  | { readonly id: number; readonly value: { readonly addresses: readonly string[] } }
  | { readonly id: number; readonly error: string };

/** How a cell's guest ended. */
export type GuestEnding =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "limit"; readonly limit: "output" }
  | { readonly kind: "trap"; readonly trap: string; readonly detail: string };

/** What a run has used so far. */
export interface CellUsage {
  /** How full the fullest linear memory is, percent of its cap (0-100). */
  readonly memory_percent: number;
  readonly bytes_written: number;
  readonly output_bytes: number;
  readonly stdout_closed: boolean;
}

/** Cell to parent (control protocol §7). All of it is data from an enemy. */
export type FromCell =
  | { readonly type: "hello"; readonly nonce: string }
  | { readonly type: "ready"; readonly walls: CellWalls }
  | {
    readonly type: "denied";
    readonly wall: number;
    readonly grant: string;
    readonly asked: string;
    readonly allow: string;
  }
  | ({ readonly type: "usage" } & CellUsage)
  | { readonly type: "pong"; readonly seq: number }
  | ({ readonly type: "host_call" } & HostCall)
  | { readonly type: "done"; readonly id: number; readonly value: unknown; readonly error?: CallError }
  | FromServingCell
  | { readonly type: "failed"; readonly code: string; readonly message: string }
  | ({ readonly type: "ended" } & GuestEnding);

/** What the cell raised before the guest existed. */
export interface CellWalls {
  readonly landlock: boolean;
  readonly seccomp: boolean;
  readonly abi: number;
  /** The guest has a thread of its own with narrowed lists (else: this thread, everything revoked). */
  readonly worker: boolean;
}

const TRAP_DETAIL = { max: 4_096 };
/** The longest name of a host that can be asked for, characters. */
const MAX_HOST_NAME = 255;
const MAX_ADDRESSES = { max: 64 };

/**
 * Decodes what a cell said. An unknown `type` is undefined, to be counted by the caller.
 *
 * @throws `protocol.bad_field` naming the field.
 */
export function decodeFromCell(message: Record<string, unknown>): FromCell | undefined {
  const fields = new Fields(message, "message");
  const type = fields.string("type", { max: 64 });
  switch (type) {
    case "hello":
      return { type, nonce: fields.string("nonce", { max: 128 }) };
    case "ready":
      return { type, walls: decodeWalls(fields.object("walls")) };
    case "denied":
      return {
        type,
        wall: fields.integer("wall"),
        grant: fields.string("grant", { max: 64 }),
        asked: fields.string("asked", { max: 8_192 }),
        allow: fields.string("allow", { max: 8_192 }),
      };
    case "usage":
      return { type, ...decodeUsage(fields) };
    case "pong":
      return { type, seq: fields.integer("seq") };
    case "host_call": {
      const name = fields.oneOf("name", ["resolve"] as const);
      const args = fields.object("args");
      return { type, id: fields.integer("id"), name, args: { name: args.string("name", { max: MAX_HOST_NAME }) } };
    }
    case "done":
      return {
        type,
        id: fields.integer("id"),
        value: fields.raw("value"),
        ...fields.optional("error", (name) => decodeCallError(fields.object(name))),
      };
    case "head":
      return decodeHead(fields);
    case "chunk":
      return decodeChunk(fields);
    case "credit":
      return decodeCredit(fields);
    case "log":
      return decodeLog(fields);
    case "failed":
      return { type, code: fields.string("code", { max: 64 }), message: fields.string("message", { max: 65_536 }) };
    case "ended":
      return { type, ...decodeEnding(fields) };
    default:
      return undefined;
  }
}

function decodeWalls(fields: Fields): CellWalls {
  return {
    landlock: fields.boolean("landlock"),
    seccomp: fields.boolean("seccomp"),
    abi: fields.integer("abi"),
    worker: fields.boolean("worker"),
  };
}

function decodeUsage(fields: Fields): CellUsage {
  return {
    memory_percent: fields.integer("memory_percent"),
    bytes_written: fields.integer("bytes_written"),
    output_bytes: fields.integer("output_bytes"),
    stdout_closed: fields.boolean("stdout_closed"),
  };
}

function decodeEnding(fields: Fields): GuestEnding {
  const kind = fields.oneOf("kind", ["exit", "limit", "trap"]);
  switch (kind) {
    case "exit": {
      const code = fields.integer("code");
      if (code > 255) throw new CapsuleError("protocol.bad_field", "Read a message: message.code is not 0 to 255");
      return { kind, code };
    }
    case "limit":
      return { kind, limit: fields.oneOf("limit", ["output"]) };
    case "trap":
      return { kind, trap: fields.string("trap", { max: 64 }), detail: fields.string("detail", TRAP_DETAIL) };
  }
}

/**
 * Decodes what the parent said. Its first message is the cell's whole authority, so that a field that is missing or of
 * another kind ends the cell; grants travel as the parent resolved them.
 *
 * @throws `protocol.bad_field` naming the field; `protocol.unexpected` for an unknown `type`.
 */
export function decodeToCell(message: Record<string, unknown>): ToCell {
  const fields = new Fields(message, "message");
  const type = fields.string("type", { max: 64 });
  switch (type) {
    case "load":
      return decodeLoad(fields);
    case "call":
      if (fields.has("request")) return decodeHttpCall(fields);
      return { type, id: fields.integer("id"), export: fields.string("export", { max: 256 }) };
    case "chunk":
      return decodeChunk(fields);
    case "credit":
      return decodeCredit(fields);
    case "cancel":
      return { type, id: fields.integer("id") };
    case "host_result":
      return { type, ...decodeHostResult(fields) };
    case "ping":
      return { type, seq: fields.integer("seq") };
    default:
      throw new CapsuleError("protocol.unexpected", "Read a message: message.type is none that a cell knows");
  }
}

function decodeLoad(fields: Fields): RunLoad | ServeLoad | BuildLoad {
  switch (fields.oneOf("kind", ["run", "serve", "build"])) {
    case "run": {
      const terminal = fields.list("terminal", (item) => item === true, { max: 3 });
      return {
        ...decodeGuestLoad(fields),
        kind: "run",
        terminal: [terminal[0] === true, terminal[1] === true, terminal[2] === true],
      };
    }
    case "serve": {
      const concurrency = fields.integer("concurrency");
      if (concurrency < 1 || concurrency > 1_000) {
        throw new CapsuleError("protocol.bad_field", "Read a message: message.concurrency is not 1 to 1000");
      }
      return { ...decodeGuestLoad(fields), kind: "serve", concurrency };
    }
    case "build":
      return decodeBuildLoad(fields);
  }
}

function decodeGuestLoad(fields: Fields): Omit<RunLoad, "kind" | "terminal"> {
  const folders = fields.object("folders");
  const component = fields.object("component");
  const kernel = fields.object("kernel");
  return {
    type: "load",
    grants: decodeGrants(fields.object("grants")),
    args: fields.list("args", textItem),
    env: fields.list("env", decodePair),
    folders: {
      cache: folders.string("cache"),
      tmp: folders.string("tmp"),
      ...folders.optional("work", (name) => folders.string(name)),
    },
    component: {
      key: component.string("key", { max: 256 }),
      glue: decodeFile(component.object("glue")),
      modules: component.list("modules", (item, path) => decodeFile(new Fields(item, path)), { max: 4_096 }),
      memories: component.list("memories", (item, path) => decodeMemory(new Fields(item, path)), { max: 4_096 }),
    },
    kernel: { landlock: kernel.boolean("landlock"), seccomp: kernel.boolean("seccomp") },
    ...fields.optional("network", (name) => decodeNetwork(fields.object(name))),
  };
}

function decodeBuildLoad(fields: Fields): BuildLoad {
  return {
    type: "load",
    kind: "build",
    component: fields.string("component"),
    digest: fields.string("digest", { max: 71 }),
    folder: fields.string("folder"),
    tmp: fields.string("tmp"),
    memory_mb: fields.integer("memory_mb"),
    hull: fields.boolean("hull"),
  };
}

function decodeNetwork(fields: Fields): CellNetwork {
  return {
    gate_port: fields.integer("gate_port"),
    credential: fields.string("credential", { max: 256 }),
    ca_certs: fields.list("ca_certs", textItem),
    udp_peers: fields.list("udp_peers", textItem, { max: 4_096 }),
  };
}

function decodeHostResult(fields: Fields): HostResult {
  const id = fields.integer("id");
  if (fields.has("error")) return { id, error: fields.string("error", { max: 64 }) };
  return { id, value: { addresses: fields.object("value").list("addresses", textItem, MAX_ADDRESSES) } };
}

function decodePair(item: unknown, path: string): [string, string] {
  const pair = Array.isArray(item) && item.length === 2 ? item : [];
  return [textItem(pair[0], `${path}[0]`), textItem(pair[1], `${path}[1]`)];
}

function decodeFile(fields: Fields): CellFile {
  return {
    name: fields.string("name", { max: 256 }),
    sha256: fields.string("sha256", { max: 64 }),
    bytes: fields.integer("bytes"),
  };
}

function decodeMemory(fields: Fields): CellMemory {
  return {
    module: fields.string("module", { max: 256 }),
    page_bytes: fields.integer("page_bytes"),
    min_pages: fields.integer("min_pages"),
    max_pages: fields.integer("max_pages"),
  };
}

function decodeGrants(fields: Fields): Grants {
  const fs = fields.object("fs");
  const limits = fields.object("limits");
  return {
    fs: {
      ...fs.optional("work", (name) => fs.oneOf(name, ["ro", "rw"] as const)),
      mounts: fs.list("mounts", (item, path) => {
        const mount = new Fields(item, path);
        return {
          guest: mount.string("guest"),
          mode: mount.oneOf("mode", ["ro", "rw"] as const),
          host: mount.string("host"),
        };
      }),
    },
    env: fields.list("env", textItem),
    net: fields.list("net", textItem),
    stdio: fields.boolean("stdio"),
    clocks: fields.boolean("clocks"),
    random: fields.boolean("random"),
    limits: {
      memory_mb: limits.integer("memory_mb"),
      deadline_ms: limits.integer("deadline_ms"),
      ...limits.optional("cpu_seconds", (name) => limits.integer(name)),
      ...limits.optional("output_bytes", (name) => limits.integer(name)),
      open_files: limits.integer("open_files"),
      file_bytes: limits.integer("file_bytes"),
      work_bytes: limits.integer("work_bytes"),
    },
    ...fields.optional("containment", (name) => fields.oneOf(name, ["advisory", "scoped"] as const)),
  };
}
