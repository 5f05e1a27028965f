import { CapsuleError } from "../../base/mod.ts";
import { encodeFrame, FrameDecoder } from "../../protocol/mod.ts";
import {
  decodeTreeRequest,
  type TreeAction,
  type TreeNode,
  type TreeReply,
  type TreeRequest,
} from "../../protocol/tree/mod.ts";

/** What a running tree lets a person see and do. */
export interface TreeControl {
  /** Every session, parents before their children. */
  list(): readonly TreeNode[];
  /** Asks it of the session at `path` and of all below it. @throws CapsuleError when it cannot be */
  act(action: TreeAction, path: string): void | Promise<void>;
}

/** How often a follower is told of what has changed, ms. */
const FOLLOW_PAUSE_MS = 200;

/** Connections at once; one more is closed at once. */
const MAX_CONNECTIONS = 64;

/** How long a connection may take to say what it wants, ms: who says nothing keeps others out. */
const REQUEST_TIMEOUT_MS = 5_000;

/** The longest request, bytes; a path is the longest of it. */
const MAX_REQUEST_BYTES = 4_096;

/**
 * The control socket of a running tree: a unix socket in a folder that only its owner can enter, one request a
 * connection. Closing it ends every connection; whoever follows sees that the tree is gone.
 */
export class TreeSocket implements AsyncDisposable {
  readonly #listener: Deno.Listener;
  readonly #control: TreeControl;
  readonly #requestMs: number;
  readonly #connections = new Set<Deno.Conn>();
  readonly #closed = new AbortController();
  readonly #serving: Promise<void>;

  private constructor(listener: Deno.Listener, control: TreeControl, requestMs: number) {
    this.#listener = listener;
    this.#control = control;
    this.#requestMs = requestMs;
    this.#serving = this.#serve();
  }

  /** Listens at `path`, in a folder that is 0700. Throws the system's error when it cannot. */
  static open(path: string, control: TreeControl, requestMs: number = REQUEST_TIMEOUT_MS): TreeSocket {
    return new TreeSocket(Deno.listen({ transport: "unix", path }), control, requestMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    close(this.#listener);
    for (const connection of this.#connections) close(connection);
    await this.#serving;
  }

  async #serve(): Promise<void> {
    const answering = new Set<Promise<void>>();
    while (true) {
      const connection = await this.#listener.accept().catch(() => undefined);
      if (connection === undefined) break;
      if (this.#connections.size >= MAX_CONNECTIONS) {
        close(connection);
        continue;
      }
      this.#connections.add(connection);
      const one = this.#answer(connection).catch(() => {}).finally(() => {
        close(connection);
        this.#connections.delete(connection);
        answering.delete(one);
      });
      answering.add(one);
    }
    await Promise.all(answering);
  }

  async #answer(connection: Deno.Conn): Promise<void> {
    const timer = setTimeout(() => close(connection), this.#requestMs);
    const request = await readRequest(connection).finally(() => clearTimeout(timer));
    if (request === undefined) return;
    if (request.type === "follow") return await this.#follow(connection);
    await send(connection, await this.#reply(request));
  }

  async #reply(request: Exclude<TreeRequest, { type: "follow" }>): Promise<TreeReply> {
    if (request.type === "list") return { type: "tree", nodes: this.#control.list() };
    try {
      await this.#control.act(request.type, request.path);
      return { type: "done" };
    } catch (error) {
      if (!(error instanceof CapsuleError)) throw error;
      return { type: "refused", message: error.message };
    }
  }

  /** Tells the tree as it is, and again whenever it is another. */
  async #follow(connection: Deno.Conn): Promise<void> {
    let told = "";
    while (!this.#closed.signal.aborted) {
      const nodes = this.#control.list();
      const now = JSON.stringify(nodes);
      if (now !== told) await send(connection, { type: "tree", nodes });
      told = now;
      await pause(this.#closed.signal);
    }
  }
}

/** The first frame of a connection; nothing when it ends before. @throws `protocol.*` */
async function readRequest(connection: Deno.Conn): Promise<TreeRequest | undefined> {
  const decoder = new FrameDecoder();
  const buffer = new Uint8Array(MAX_REQUEST_BYTES);
  for (let total = 0; total <= MAX_REQUEST_BYTES;) {
    const count = await connection.read(buffer);
    if (count === null) return undefined;
    total += count;
    for (const message of decoder.push(buffer.subarray(0, count))) return decodeTreeRequest(message);
  }
  return undefined;
}

async function send(connection: Deno.Conn, reply: TreeReply): Promise<void> {
  const frame = encodeFrame(reply);
  for (let written = 0; written < frame.length;) written += await connection.write(frame.subarray(written));
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, FOLLOW_PAUSE_MS);
    signal.addEventListener("abort", done);
  });
}

function close(resource: { close(): void }): void {
  try {
    resource.close();
  } catch { /* it was closed by the other side */ }
}
