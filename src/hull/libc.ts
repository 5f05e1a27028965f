import { CapsuleError } from "../base/mod.ts";
import { type Architecture, type CallName, CALLS, numberOn } from "./syscalls.ts";

/** An argument of a system call: a number, or memory whose address is passed. */
export type CallArgument = number | bigint | Uint8Array<ArrayBuffer> | BigUint64Array<ArrayBuffer>;

const SYMBOLS = {
  syscall: { parameters: ["i64", "i64", "i64", "i64", "i64", "i64", "i64"], result: "i64" },
  signal: { parameters: ["i32", "usize"], result: "usize" },
  setpriority: { parameters: ["i32", "u32", "i32"], result: "i32" },
  __errno_location: { parameters: [], result: "pointer" },
} as const satisfies Deno.ForeignLibraryInterface;

const ERRNO_NAMES: Readonly<Record<number, string>> = {
  1: "EPERM",
  2: "ENOENT",
  3: "ESRCH",
  7: "E2BIG",
  9: "EBADF",
  11: "EAGAIN",
  12: "ENOMEM",
  13: "EACCES",
  14: "EFAULT",
  20: "ENOTDIR",
  22: "EINVAL",
  23: "ENFILE",
  24: "EMFILE",
  38: "ENOSYS",
  40: "ELOOP",
  42: "ENOMSG",
  77: "EBADFD",
  95: "EOPNOTSUPP",
};

/** The name of an errno that this room can meet, else `errno N`. */
export function errnoName(errno: number): string {
  return ERRNO_NAMES[errno] ?? `errno ${errno}`;
}

/** The C library, opened by its bare name so that the one already in this process is used and no file is looked up. */
export class Libc implements Disposable {
  #library: Deno.DynamicLibrary<typeof SYMBOLS> | undefined;
  readonly #architecture: Architecture;
  readonly #pinned: ArrayBuffer[] = [];

  private constructor(library: Deno.DynamicLibrary<typeof SYMBOLS>, architecture: Architecture) {
    this.#library = library;
    this.#architecture = architecture;
  }

  /** @throws `hull.unavailable` off Linux x86-64 and aarch64, and without ffi permission. */
  static open(): Libc {
    // Written out: a build that leaves the wall out, for timing alone, replaces this very name.
    const os: string = Deno.build.os;
    const { arch } = Deno.build;
    if (os !== "linux") {
      throw new CapsuleError("hull.unavailable", `Open the kernel wall: needs Linux, this is ${os}`);
    }
    try {
      return new Libc(Deno.dlopen("libc.so.6", SYMBOLS), arch);
    } catch (cause) {
      const message = `Open the kernel wall: libc.so.6 could not be loaded (${(cause as Error).message})`;
      throw new CapsuleError("hull.unavailable", message, { cause });
    }
  }

  /** The architecture whose numbers {@link Libc.call} uses. */
  get architecture(): Architecture {
    return this.#architecture;
  }

  /** Makes one system call; at most six arguments. Negative results are `-errno`, as the kernel gives them. */
  call(name: CallName, ...values: readonly CallArgument[]): number {
    const a = values.map((value) => this.#toWord(value));
    const number = BigInt(numberOn(this.#architecture, CALLS[name]));
    const { syscall, __errno_location } = this.#symbols();
    const result = Number(syscall(number, a[0] ?? 0n, a[1] ?? 0n, a[2] ?? 0n, a[3] ?? 0n, a[4] ?? 0n, a[5] ?? 0n));
    if (result !== -1) return result;
    return -new Deno.UnsafePointerView(__errno_location()!).getInt32();
  }

  /** Where the bytes of `memory` are, to be written into a struct; they stay there until `close()`. */
  addressOf(memory: Uint8Array<ArrayBuffer> | BigUint64Array<ArrayBuffer>): bigint {
    // Asking for `buffer` moves a small array off the collected heap, where its address would change; and once only
    // the address is left, the collector would free it.
    const buffer = memory.buffer;
    this.#pinned.push(buffer);
    return BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(buffer))) + BigInt(memory.byteOffset);
  }

  #toWord(value: CallArgument): bigint {
    if (typeof value === "bigint") return value;
    return typeof value === "number" ? BigInt(value) : this.addressOf(value);
  }

  /** Ignores a signal in this process. */
  ignoreSignal(signal: number): void {
    this.#symbols().signal(signal, 1n); // SIG_IGN
  }

  /** The niceness of this thread and of what it starts from now on; false when the kernel does not allow it. */
  setNice(nice: number): boolean {
    return this.#symbols().setpriority(0, 0, nice) === 0; // PRIO_PROCESS, this one
  }

  // Deno leaves the symbols of a closed library callable, so that they have to be let go here.
  #symbols(): Deno.DynamicLibrary<typeof SYMBOLS>["symbols"] {
    if (this.#library === undefined) throw new TypeError("Call libc: it is closed");
    return this.#library.symbols;
  }

  /** Closes the library for good; a later call throws a TypeError. */
  close(): void {
    this.#library?.close();
    this.#library = undefined;
    this.#pinned.length = 0;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** A C string: UTF-8 and a NUL. */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}
