import { isAbsolute } from "@std/path";
import { Fields, textItem } from "../fields.ts";
import { LINE, NAME } from "./text_bounds.ts";

/** The most tasks that may wait at a door. */
export const MAX_QUEUE_DEPTH = 10_000;

/** The most peers that a door knows. */
const MAX_PEERS = 1_024;

/** Someone who holds a token of the door's: its hash, `sha256` in hex, never the token. */
export interface DoorPeer {
  readonly name: string;
  readonly token_hash: string;
}

/** The A2A endpoint that a session opens: where it listens and whom it lets in. It holds hashes, no token. */
export interface DoorSpec {
  readonly hostname: string;
  /** 0: the system chooses. */
  readonly port: number;
  /** Nobody needs a token. */
  readonly open: boolean;
  /** What a `Host` may say beside the bound address. */
  readonly names: readonly string[];
  readonly accept: "single" | "queue";
  readonly queue_depth: number;
  /** A task that an earlier session was at is run again; else it has failed. */
  readonly idempotent: boolean;
  /** How long a question of a task waits for its answer; absent: as the role has it. */
  readonly input_timeout_ms?: number;
  /** Absent: nobody comes in as the owner. */
  readonly token_hash?: string;
  readonly peers: readonly DoorPeer[];
  /** The folder of a named service, whose tasks outlive the session. */
  readonly service?: { readonly folder: string };
}

/** @throws `protocol.bad_field` naming the field */
export function decodeDoorSpec(fields: Fields): DoorSpec {
  return {
    hostname: fields.string("hostname", NAME),
    port: fields.integer("port", { max: 65_535 }),
    open: fields.boolean("open"),
    names: fields.orElse("names", [], (name) => fields.list(name, textItem, { max: 64 })),
    accept: fields.oneOf("accept", ["single", "queue"] as const),
    queue_depth: fields.integer("queue_depth", { min: 1, max: MAX_QUEUE_DEPTH }),
    idempotent: fields.orElse("idempotent", false, (name) => fields.boolean(name)),
    ...fields.optional("input_timeout_ms", (name) => fields.integer(name, { min: 1 })),
    ...fields.optional("token_hash", (name) => tokenHash(fields, name)),
    peers: fields.orElse("peers", [], (name) => fields.list(name, peerItem, { max: MAX_PEERS })),
    ...fields.optional("service", (name) => ({ folder: folderOf(fields.object(name)) })),
  };
}

function peerItem(item: unknown, path: string): DoorPeer {
  const fields = new Fields(item, path);
  return { name: fields.string("name", NAME), token_hash: tokenHash(fields, "token_hash") };
}

function tokenHash(fields: Fields, name: string): string {
  const hash = fields.string(name, { max: 64 });
  if (!/^[0-9a-f]{64}$/.test(hash)) fields.fail(name, "64 hex digits");
  return hash;
}

function folderOf(fields: Fields): string {
  const folder = fields.string("folder", LINE);
  if (!isAbsolute(folder) || folder.includes("\0")) fields.fail("folder", "an absolute path");
  return folder;
}
