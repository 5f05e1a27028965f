/**
 * The WASI that jco's own tools are linked with: no arguments, no variables, no files, nothing written anywhere. The
 * tools ask for these interfaces because they are compiled from Rust; all they need is random numbers for hash maps.
 * `.ci/vendor.ts` bundles this in place of `preview2-shim`.
 */

/** The most that a tool is told it may write at once, bytes; what it writes is dropped. */
const CHUNK_BYTES = 65536n;

class OutputStream {
  checkWrite(): bigint {
    return CHUNK_BYTES;
  }
  write(): void {}
  flush(): void {}
  blockingFlush(): void {}
  blockingWriteAndFlush(): void {}
  subscribe(): never {
    throw new Error("Wait for a stream: the tools have none");
  }
}

class InputStream {
  read(): never {
    throw { tag: "closed" };
  }
  blockingRead(): never {
    throw { tag: "closed" };
  }
}

class IoError {
  toDebugString(): string {
    return "inert";
  }
}

class Descriptor {}
class DirectoryEntryStream {}
class TerminalInput {}
class TerminalOutput {}

const sink = new OutputStream();

/** `wasi:cli/environment` */
export const environment = { getEnvironment: () => [], getArguments: () => [], initialCwd: () => undefined };
/** `wasi:cli/exit`: ends the call as a trap. */
export const exit = {
  exit(): never {
    throw new Error("The tool exited");
  },
};
/** `wasi:cli/stdin` */
export const stdin = { getStdin: () => new InputStream() };
/** `wasi:cli/stdout` */
export const stdout = { getStdout: () => sink };
/** `wasi:cli/stderr` */
export const stderr = { getStderr: () => sink };
/** `wasi:cli/terminal-input` */
export const terminalInput = { TerminalInput };
/** `wasi:cli/terminal-output` */
export const terminalOutput = { TerminalOutput };
/** `wasi:cli/terminal-stdin` */
export const terminalStdin = { getTerminalStdin: () => undefined };
/** `wasi:cli/terminal-stdout` */
export const terminalStdout = { getTerminalStdout: () => undefined };
/** `wasi:cli/terminal-stderr` */
export const terminalStderr = { getTerminalStderr: () => undefined };
/** `wasi:clocks/wall-clock`: stands at the epoch. */
export const wallClock = {
  now: () => ({ seconds: 0n, nanoseconds: 0 }),
  resolution: () => ({ seconds: 1n, nanoseconds: 0 }),
};
/** `wasi:filesystem/preopens`: none. */
export const preopens = { getDirectories: () => [] };
/** `wasi:filesystem/types` */
export const types = { Descriptor, DirectoryEntryStream, filesystemErrorCode: () => undefined };
/** `wasi:io/error` */
export const error = { Error: IoError };
/** `wasi:io/streams` */
export const streams = { InputStream, OutputStream };
/** `wasi:random/random` */
export const random = {
  getRandomBytes: (length: bigint) => crypto.getRandomValues(new Uint8Array(Number(length))),
  getRandomU64: () => crypto.getRandomValues(new BigUint64Array(1))[0],
};
