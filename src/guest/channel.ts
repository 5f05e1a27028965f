import { decodeToCell, encodeFrame, FrameDecoder, type FromCell, type ToCell } from "../protocol/mod.ts";

/** The cell's side of its frames: messages of its parent in, its own out, in order. */
export class CellChannel {
  readonly #read: (buffer: Uint8Array) => Promise<number | null>;
  readonly #write: (frame: Uint8Array) => Promise<void>;
  /** From now on waiting for a message holds nothing up; for a channel on stdin, and only behind the hull. */
  readonly readInBackground: () => void;

  private constructor(
    read: (buffer: Uint8Array) => Promise<number | null>,
    write: (frame: Uint8Array) => Promise<void>,
    readInBackground: () => void = () => {},
  ) {
    this.readInBackground = readInBackground;
    this.#read = read;
    this.#write = write;
  }

  /**
   * Opens the channel. A foreground cell finds a nonce in `tmp/n`: it reads and unlinks it, connects to `tmp/s` (a
   * unix connect makes no pool thread, so that the hull can still cover every thread) and presents it. Any other cell
   * has its frames on stdin and stdout (synchronously, for the same reason), and its console moved to stderr.
   */
  static async open(tmp: string): Promise<CellChannel> {
    const nonce = takeNonce(`${tmp}/n`);
    if (nonce === undefined) {
      let isWaiting = false;
      console.log = console.info = console.debug = console.error;
      return new CellChannel(
        (buffer) => isWaiting ? Deno.stdin.read(buffer) : Promise.resolve(Deno.stdin.readSync(buffer)),
        writeNow,
        () => isWaiting = true,
      );
    }
    const connection = await Deno.connect({ transport: "unix", path: `${tmp}/s` });
    const channel = new CellChannel((buffer) => connection.read(buffer), inOrder((bytes) => connection.write(bytes)));
    await channel.send({ type: "hello", nonce });
    return channel;
  }

  /** Sends one message; settles when it is written, or when nobody reads any more. */
  send(message: FromCell): Promise<void> {
    return this.#write(encodeFrame(message));
  }

  /** What the parent says, until it goes away. @throws `protocol.*` */
  async *receive(): AsyncGenerator<ToCell> {
    const decoder = new FrameDecoder();
    const buffer = new Uint8Array(64 * 1024);
    for (let count = await this.#read(buffer); count !== null; count = await this.#read(buffer)) {
      for (const message of decoder.push(buffer.subarray(0, count))) yield decodeToCell(message);
    }
    decoder.end();
  }
}

/** Whole frames to stdout, each written when this returns: a guest in this thread may never give it back. */
function writeNow(frame: Uint8Array): Promise<void> {
  try {
    for (let written = 0; written < frame.length;) written += Deno.stdout.writeSync(frame.subarray(written));
  } catch { /* the parent is gone, and the kernel ends this process with it */ }
  return Promise.resolve();
}

/** Whole frames, one after the other. */
function inOrder(write: (bytes: Uint8Array) => Promise<number>): (frame: Uint8Array) => Promise<void> {
  let writing: Promise<void> = Promise.resolve();
  return (frame) => {
    writing = writing.then(async () => {
      try {
        for (let written = 0; written < frame.length;) written += await write(frame.subarray(written));
      } catch { /* the parent is gone, and the kernel ends this process with it */ }
    });
    return writing;
  };
}

function takeNonce(path: string): string | undefined {
  let nonce: string;
  try {
    nonce = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  Deno.removeSync(path);
  return nonce;
}
