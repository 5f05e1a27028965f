import { CapsuleError } from "../base/mod.ts";
import { FrameDecoder } from "../protocol/mod.ts";
import { type CellChannel, CellProcess, type ChildExit, spawnPatiently } from "./cell_process.ts";
import { TailBuffer } from "./tail_buffer.ts";

/** What to start. The environment is exactly `env`; `tmp` is the cell's own fresh folder (0700). */
export interface CellLaunch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly tmp: string;
}

/** How long a cell may take from its spawn to its first word, ms. */
export const CELL_START_TIMEOUT_MS = 30_000;

/** What the runtime needs before any code of ours runs; it aborts without. */
const BARE_RUNTIME_HINT = "the runtime could not start: raise the limits of threads (`ulimit -u`), open files " +
  "(`ulimit -n`) or address space (`ulimit -v`)";

/** The longest first frame (`hello` with a nonce) that is read from a connection not yet known, bytes. */
const HELLO_MAX_BYTES = 512;

/** The length before every frame, bytes. */
const FRAME_HEAD_BYTES = 4;

/** A captured cell: its frames, and beside them its guest's own streams. */
export interface CapturedCell {
  readonly cell: CellProcess;
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
}

/**
 * Starts a foreground cell: the user's own stdin, stdout and stderr, the caller's process group, and a unix socket
 * `tmp/s` for frames, to which it presents the nonce it found in `tmp/n`.
 *
 * @throws `cell.start_failed` when it ends (the cause is its {@link ChildExit}), or says nothing, before it has connected.
 */
export async function spawnForegroundCell(launch: CellLaunch): Promise<CellProcess> {
  const { cell } = await spawnSocketCell(launch, "inherit");
  return cell;
}

/**
 * Starts a captured cell: as a foreground cell, but with pipes to the caller for stdin, stdout and stderr, and its own
 * process group. The streams are the caller's to read and to close.
 *
 * @throws `cell.start_failed` as {@link spawnForegroundCell}
 */
export async function spawnCapturedCell(launch: CellLaunch): Promise<CapturedCell> {
  const { cell, child } = await spawnSocketCell(launch, "piped");
  return { cell, stdin: child.stdin, stdout: child.stdout, stderr: child.stderr };
}

async function spawnSocketCell(
  launch: CellLaunch,
  stdio: "inherit" | "piped",
): Promise<{ readonly cell: CellProcess; readonly child: Deno.ChildProcess }> {
  const nonce = [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
  Deno.writeTextFileSync(`${launch.tmp}/n`, nonce, { createNew: true, mode: 0o600 });
  using listener = Deno.listen({ transport: "unix", path: `${launch.tmp}/s` });
  const child = await spawnPatiently(
    new Deno.Command(launch.program, {
      args: [...launch.args],
      env: { ...launch.env },
      clearEnv: true,
      stdin: stdio,
      stdout: stdio,
      stderr: stdio,
      detached: stdio === "piped" && Deno.build.os !== "windows",
    }),
  );
  const exit = reap(child);
  try {
    const connection = await firstToHappen(acceptKnown(listener, nonce), exit);
    return { cell: new CellProcess(child, channelOf(connection), exit), child };
  } catch (error) {
    killQuietly(child);
    await exit;
    if (stdio === "piped") {
      await Promise.allSettled([child.stdin.abort(), child.stdout.cancel(), child.stderr.cancel()]);
    }
    throw error;
  }
}

/** Starts a serving cell: frames on its stdin and stdout, its own process group, the tail of its stderr kept. */
export async function spawnServingCell(launch: CellLaunch): Promise<CellProcess> {
  const child = await spawnPatiently(
    new Deno.Command(launch.program, {
      args: [...launch.args],
      env: { ...launch.env },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      detached: Deno.build.os !== "windows",
    }),
  );
  const reader = child.stdout.getReader();
  const writer = child.stdin.getWriter();
  let rest: Uint8Array = new Uint8Array(0);
  const channel: CellChannel = {
    async read(buffer) {
      if (rest.length === 0) {
        const { value, done } = await reader.read();
        if (done) return null;
        rest = value;
      }
      const taken = rest.subarray(0, buffer.length);
      buffer.set(taken);
      rest = rest.subarray(taken.length);
      return taken.length;
    },
    async write(bytes) {
      await writer.write(bytes);
      return bytes.length;
    },
    close() {
      writer.close().catch(() => {});
      reader.cancel().catch(() => {});
    },
  };
  return new CellProcess(child, channel, reap(child), new TailBuffer(child.stderr));
}

function reap(child: Deno.ChildProcess): Promise<ChildExit> {
  return child.status.then(({ code, signal }) => ({ code, signal }));
}

async function firstToHappen(connection: Promise<Deno.Conn>, exit: Promise<ChildExit>): Promise<Deno.Conn> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new CapsuleError("cell.start_failed", `Start a cell: no word within ${CELL_START_TIMEOUT_MS} ms`)),
      CELL_START_TIMEOUT_MS,
    );
  });
  const died = exit.then(({ code, signal }) => {
    const hint = signal === "SIGABRT" || signal === "SIGTRAP" ? `; ${BARE_RUNTIME_HINT}` : "";
    const message = `Start a cell: it ended with ${signal ?? `code ${code}`} before it connected${hint}`;
    throw new CapsuleError("cell.start_failed", message, { cause: { code, signal } satisfies ChildExit });
  });
  connection.catch(() => {});
  try {
    return await Promise.race([connection, died, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whoever connects without the nonce is dropped, and the wait goes on. */
async function acceptKnown(listener: Deno.Listener, nonce: string): Promise<Deno.Conn> {
  while (true) {
    const connection = await listener.accept();
    if (await presents(connection, nonce)) return connection;
    connection.close();
  }
}

async function presents(connection: Deno.Conn, nonce: string): Promise<boolean> {
  try {
    const head = await readExactly(connection, FRAME_HEAD_BYTES);
    const length = new DataView(head.buffer).getUint32(0);
    if (length > HELLO_MAX_BYTES) return false;
    const frame = new Uint8Array([...head, ...await readExactly(connection, length)]);
    const [message] = new FrameDecoder().push(frame);
    return message?.["type"] === "hello" && message["nonce"] === nonce;
  } catch { /* not a frame: not ours */ }
  return false;
}

/** Not a byte more is taken: what follows is for whoever reads the connection next. */
async function readExactly(connection: Deno.Conn, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = await connection.read(bytes.subarray(at));
    if (count === null) throw new CapsuleError("protocol.truncated", "Read a frame: the stream ended inside it");
    at += count;
  }
  return bytes;
}

function channelOf(connection: Deno.Conn): CellChannel {
  return {
    read: (buffer) => connection.read(buffer),
    write: (bytes) => connection.write(bytes),
    close() {
      try {
        connection.close();
      } catch { /* already closed */ }
    },
  };
}

function killQuietly(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch { /* it is gone */ }
}
