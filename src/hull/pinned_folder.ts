import { cString, Libc } from "./libc.ts";

const AT_FDCWD = -100;
const O_WRONLY = 0o1;
const O_CREAT = 0o100;
const O_EXCL = 0o200;
const O_NONBLOCK = 0o4000;
const O_CLOEXEC = 0o2000000;
const ENOENT = 2;
const EEXIST = 17;
const EFBIG = 27;

const CHUNK_BYTES = 64 * 1024;

/**
 * A folder that stays the one that was opened, whatever is put at its path meanwhile: the kernel finds each name below the
 * descriptor. No link is followed at the folder's own name, nor at one in it. A name is a single one, without `/`.
 */
export class PinnedFolder implements Disposable {
  readonly #libc: Libc;
  readonly #descriptor: number;

  private constructor(libc: Libc, descriptor: number) {
    this.#libc = libc;
    this.#descriptor = descriptor;
  }

  /**
   * Opens the folder `name` in the folder at `parent`, and makes it, 0700, when there is none.
   * @throws `hull.unavailable` without libc, else an Error whose message ends with `(os error N)`
   */
  static open(parent: string, name: string): PinnedFolder {
    const libc = Libc.open();
    try {
      const above = openFolder(libc, AT_FDCWD, parent);
      try {
        const made = libc.call("mkdirat", above, cString(name), 0o700);
        if (made !== -EEXIST) succeed(made);
        return new PinnedFolder(libc, openFolder(libc, above, name));
      } finally {
        libc.call("close", above);
      }
    } catch (error) {
      libc.close();
      throw error;
    }
  }

  /** Makes a new file, 0600, and has `fill` write it. @throws Error as {@link open}, and what `fill` throws */
  async create<T>(name: string, fill: (write: (bytes: Uint8Array<ArrayBuffer>) => void) => Promise<T>): Promise<T> {
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    const file = succeed(this.#libc.call("openat", this.#descriptor, cString(name), flags, 0o600));
    try {
      return await fill((bytes) => {
        for (let at = 0; at < bytes.length;) {
          at += succeed(this.#libc.call("write", file, bytes.subarray(at), bytes.length - at));
        }
      });
    } finally {
      this.#libc.call("close", file);
    }
  }

  /** The whole of a file in it; no link is followed, and a pipe is not waited for. @throws Error as {@link open} */
  read(name: string, maxBytes: number): Uint8Array<ArrayBuffer> {
    const flags = noFollowOf(this.#libc) | O_NONBLOCK | O_CLOEXEC;
    const file = succeed(this.#libc.call("openat", this.#descriptor, cString(name), flags, 0));
    try {
      const chunks: Uint8Array<ArrayBuffer>[] = [];
      const chunk = new Uint8Array(CHUNK_BYTES);
      for (let total = 0;;) {
        const count = succeed(this.#libc.call("read", file, chunk, chunk.length));
        if (count === 0) return joined(chunks, total);
        chunks.push(chunk.slice(0, count));
        total += count;
        if (total > maxBytes) succeed(-EFBIG);
      }
    } finally {
      this.#libc.call("close", file);
    }
  }

  /** Gives a file in it another name, in place of what has it. @throws Error as {@link open} */
  rename(from: string, to: string): void {
    const folder = this.#descriptor;
    succeed(this.#libc.call("renameat2", folder, cString(from), folder, cString(to), 0));
  }

  /** Removes a file in it, if there is one. @throws Error as {@link open} */
  remove(name: string): void {
    const result = this.#libc.call("unlinkat", this.#descriptor, cString(name), 0);
    if (result !== -ENOENT) succeed(result);
  }

  [Symbol.dispose](): void {
    this.#libc.call("close", this.#descriptor);
    this.#libc.close();
  }
}

function openFolder(libc: Libc, at: number, path: string): number {
  const directory = libc.architecture === "aarch64" ? 0o40000 : 0o200000;
  return succeed(libc.call("openat", at, cString(path), directory | noFollowOf(libc) | O_CLOEXEC, 0));
}

function noFollowOf({ architecture }: Libc): number {
  return architecture === "aarch64" ? 0o100000 : 0o400000;
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** `result`, unless it is `-errno`; in the words of Deno's own errors. */
function succeed(result: number): number {
  if (result < 0) throw new Error(`Use a pinned folder (os error ${-result})`);
  return result;
}
