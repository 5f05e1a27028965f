import { type FileError, fileErrorOf } from "./files/file_error.ts";
import { HOSTED, requireHosted } from "./hosted.ts";
import type { HttpError } from "./http/http_error.ts";
import { WireFailure } from "./net/wire_failure.ts";
import type { NetworkError } from "./sockets/network_error.ts";

/** `wasi:io/error` `error`: says no more than a code or a sentence, and never a path of the host. */
export class IoError {
  readonly #text: string;
  readonly #code: FileError | undefined;
  readonly #wire: WireFailure | undefined;

  constructor(key: typeof HOSTED, text: string, code?: FileError, wire?: WireFailure) {
    requireHosted(key);
    this.#text = text;
    this.#code = code;
    this.#wire = wire;
  }

  toDebugString(): string {
    return this.#text;
  }

  /** The file error behind it, for `filesystem-error-code`. */
  get fileCode(): FileError | undefined {
    return this.#code;
  }

  /** The error of a message behind it, for `http-error-code`. */
  get httpCode(): HttpError | undefined {
    return this.#wire?.http;
  }

  /** The error of a connection behind it, for `network-error-code`. */
  get networkCode(): NetworkError | undefined {
    return this.#wire?.network;
  }
}

/** `stream-error` of `wasi:io/streams`, thrown as a value. */
export type StreamError = { readonly tag: "closed" } | { readonly tag: "last-operation-failed"; readonly val: IoError };

/** The end of a stream, as a new value each time (the glue writes into what it is given). */
export function closed(): StreamError {
  return { tag: "closed" };
}

/** A failed operation: the code of a file error where there is one, else its kind. */
export function failed(error: unknown): StreamError {
  if (error instanceof WireFailure) {
    return { tag: "last-operation-failed", val: new IoError(HOSTED, error.message, undefined, error) };
  }
  const code = fileErrorOf(error);
  return { tag: "last-operation-failed", val: new IoError(HOSTED, code, code) };
}
