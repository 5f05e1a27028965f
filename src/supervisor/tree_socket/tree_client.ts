import { CapsuleError } from "../../base/mod.ts";
import { encodeFrame, FrameDecoder } from "../../protocol/mod.ts";
import { decodeTreeReply, type TreeNode, type TreeReply, type TreeRequest } from "../../protocol/tree/mod.ts";

/** How long a tree may take to answer, ms. Its supervisor runs no guest and no model: it is never busy. */
const ANSWER_TIMEOUT_MS = 5_000;

/** More than all that can be said of the most sessions that a tree tells of. */
const MAX_REPLY_BYTES = 8 * 1024 * 1024;

/**
 * Asks a running tree something and gives its answer.
 *
 * @throws `tree.unreachable` when nobody answers there; `protocol.*` when the answer is none
 */
export async function askTree(socket: string, request: Exclude<TreeRequest, { type: "follow" }>): Promise<TreeReply> {
  using connection = await connect(socket, request);
  const timer = setTimeout(() => connection.close(), ANSWER_TIMEOUT_MS);
  try {
    for await (const reply of replies(connection)) return reply;
  } finally {
    clearTimeout(timer);
  }
  throw new CapsuleError("tree.unreachable", "Ask a running tree: it went before it answered");
}

/**
 * The sessions of a running tree, again at each change, until it is gone or the signal aborts.
 *
 * @throws `tree.unreachable` when nobody answers there; `protocol.*` when an answer is none
 */
export async function* followTree(socket: string, signal: AbortSignal): AsyncGenerator<readonly TreeNode[]> {
  using connection = await connect(socket, { type: "follow" });
  const stop = () => connection.close();
  signal.addEventListener("abort", stop);
  try {
    if (signal.aborted) return;
    for await (const reply of replies(connection)) if (reply.type === "tree") yield reply.nodes;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

interface Connection extends Disposable {
  readonly read: (buffer: Uint8Array) => Promise<number | null>;
  close(): void;
}

async function connect(socket: string, request: TreeRequest): Promise<Connection> {
  const frame = encodeFrame(request);
  try {
    const connection = await Deno.connect({ transport: "unix", path: socket });
    const close = () => {
      try {
        connection.close();
      } catch { /* it is closed */ }
    };
    try {
      for (let written = 0; written < frame.length;) written += await connection.write(frame.subarray(written));
    } catch (error) {
      close();
      throw error;
    }
    return { read: (buffer) => connection.read(buffer), close, [Symbol.dispose]: close };
  } catch (error) {
    throw new CapsuleError("tree.unreachable", "Ask a running tree: nobody answers there", { cause: error });
  }
}

/** What comes, until the end of it, or until it is more than any tree says at once. */
async function* replies(connection: Connection): AsyncGenerator<TreeReply> {
  const decoder = new FrameDecoder();
  const buffer = new Uint8Array(64 * 1024);
  for (let bytes = 0; bytes <= MAX_REPLY_BYTES;) {
    const count = await connection.read(buffer).catch(() => null);
    if (count === null) return;
    bytes += count;
    for (const message of decoder.push(buffer.subarray(0, count))) {
      bytes = 0;
      yield decodeTreeReply(message);
    }
  }
}
