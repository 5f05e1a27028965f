import { createHash } from "node:crypto";
import { CapsuleError, writeFileWhole } from "../../base/mod.ts";
import { unwritable } from "../folders/home.ts";
import { openRecord, readAt } from "../open_record.ts";
import { folderFault } from "../folders/private_folder.ts";

/** Who may come in at a door, beside its owner: a name, and the hash of a token that only its holder knows. */
export interface DoorPeerRecord {
  readonly name: string;
  readonly token_hash: string;
}

/** What is known of an open door. */
export interface OpenDoorRecord {
  readonly url: string;
  readonly session_id: string;
}

const TOKEN_BYTES = 32;
const MAX_RECORD_BYTES = 1024 * 1024;
const MAX_PEERS = 1_024;
const PEER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Who has no token of a peer: what they may is not a peer's. */
const RESERVED: readonly string[] = ["owner", "anonymous"];
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/**
 * The private folder of a door, 0700: `token` of its owner and `peers.json` (0600), `open.json` while it is open, and
 * `port` where it was last. Of a named service it is `services/NAME`, else it lies in the records of the session.
 */
export class DoorFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Makes the folder unless it is there. @throws `home.unwritable` when it is not this user's alone */
  make(): void {
    try {
      try {
        Deno.mkdirSync(this.path, { mode: 0o700 });
      } catch (error) {
        if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      }
      const fault = folderFault(this.path);
      if (fault !== undefined) throw new Error(`it is ${fault}`);
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  /** Whether it is there, and this user's alone. */
  exists(): boolean {
    try {
      return folderFault(this.path) === undefined;
    } catch {
      return false;
    }
  }

  /** The owner's token: the one that is there, else a new one. @throws `home.unwritable` */
  ownToken(): string {
    const known = this.readToken();
    if (known !== undefined) return known;
    const token = newToken();
    this.#write("token", `${token}\n`);
    return token;
  }

  /** The owner's token; nothing when there is none that could be one. */
  readToken(): string | undefined {
    const token = this.#read("token")?.trim();
    return token !== undefined && TOKEN.test(token) ? token : undefined;
  }

  /** @throws `records.unreadable` when what is there is not a list of peers */
  peers(): readonly DoorPeerRecord[] {
    const text = this.#read("peers.json");
    if (text === undefined) return [];
    try {
      const found: unknown = JSON.parse(text);
      if (Array.isArray(found) && found.length <= MAX_PEERS && found.every(isPeer)) {
        return found.map(({ name, token_hash }) => ({ name, token_hash }));
      }
    } catch { /* said below */ }
    throw new CapsuleError("records.unreadable", `Read peers: ${this.path}/peers.json is not a list of peers`);
  }

  /**
   * A token for a peer, of which the hash alone is kept; the one that it had is worth nothing any more.
   * @throws `usage.bad_value` for a name that cannot be one; `home.unwritable`
   */
  addPeer(name: string): string {
    if (!PEER_NAME.test(name) || RESERVED.includes(name)) {
      const wanted = `letters, digits, dots, - and _, 64 at most, and not ${RESERVED.join(" or ")}`;
      throw new CapsuleError("usage.bad_value", `Read PEER: wanted ${wanted}`);
    }
    const token = newToken();
    const others = this.peers().filter((peer) => peer.name !== name);
    if (others.length >= MAX_PEERS) {
      throw new CapsuleError("usage.bad_value", `Add a peer: there are ${MAX_PEERS} already; revoke one`);
    }
    this.#writePeers([...others, { name, token_hash: hashToken(token) }]);
    return token;
  }

  /** Takes a peer's token away; false when there was none. @throws `home.unwritable` */
  revokePeer(name: string): boolean {
    const peers = this.peers();
    const left = peers.filter((peer) => peer.name !== name);
    if (left.length === peers.length) return false;
    this.#writePeers(left);
    return true;
  }

  /** The peers as a file, to see whether they are others by now; empty when there are none. */
  peersVersion(): string {
    try {
      const { ino, mtime, size } = Deno.lstatSync(`${this.path}/peers.json`);
      return `${ino}:${mtime?.getTime()}:${size}`;
    } catch {
      return "";
    }
  }

  /** Says where it is open; `undefined`: it is not any more. @throws `home.unwritable` */
  writeOpen(open: OpenDoorRecord | undefined): void {
    if (open === undefined) return this.#remove("open.json");
    this.#write("open.json", JSON.stringify(open) + "\n");
  }

  /** Where it is open, as far as it is known. */
  readOpen(): OpenDoorRecord | undefined {
    try {
      const { url, session_id } = JSON.parse(this.#read("open.json") ?? "null") ?? {};
      return typeof url === "string" && typeof session_id === "string" ? { url, session_id } : undefined;
    } catch {
      return undefined;
    }
  }

  /** The port of the last time. */
  readPort(): number | undefined {
    const port = Number(this.#read("port")?.trim());
    return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined;
  }

  /** @throws `home.unwritable` */
  writePort(port: number): void {
    this.#write("port", `${port}\n`);
  }

  /** Whoever held the owner's token has one that is worth nothing: its door is gone for good. */
  forgetToken(): void {
    this.#remove("token");
  }

  #writePeers(peers: readonly DoorPeerRecord[]): void {
    this.#write("peers.json", JSON.stringify(peers, null, 2) + "\n");
  }

  #read(name: string): string | undefined {
    try {
      using file = openRecord(`${this.path}/${name}`);
      return new TextDecoder().decode(readAt(file, 0, MAX_RECORD_BYTES));
    } catch {
      return undefined;
    }
  }

  #write(name: string, text: string): void {
    try {
      writeFileWhole(`${this.path}/${name}`, text, { mode: 0o600 });
    } catch (error) {
      throw error instanceof CapsuleError ? error : unwritable(`${this.path}/${name}`, error);
    }
  }

  #remove(name: string): void {
    try {
      Deno.removeSync(`${this.path}/${name}`);
    } catch { /* it is gone */ }
  }
}

/** What a door keeps of a token. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function isPeer(found: unknown): found is DoorPeerRecord {
  if (typeof found !== "object" || found === null) return false;
  const { name, token_hash } = found as Record<string, unknown>;
  return typeof name === "string" && PEER_NAME.test(name) && typeof token_hash === "string" &&
    /^[0-9a-f]{64}$/.test(token_hash);
}
