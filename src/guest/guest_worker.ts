import { type PermissionLists, workerPermissions } from "../base/mod.ts";
import {
  answerReadAhead,
  type Denial,
  type Preopen,
  shareReadAhead,
  symlinkInside,
  type SymlinkPlace,
} from "../wasi/mod.ts";
import type { DelegationEnd, FromCell, HostCall, HostResult, ToCell } from "../protocol/mod.ts";
import {
  type FromGuest,
  type GuestReport,
  type GuestStart,
  type ServeStart,
  SYMLINK_ANSWERS,
  type ToGuest,
  type ToolsStart,
} from "./worker_messages.ts";

/** What the executable's loader gives every script (`.ci/script_loader.ts`). */
declare const BOLL_BUNDLE: { readPack(entry: string): Uint8Array<ArrayBuffer> };

const ENTRY = Deno.build.standalone ? "./worker.js" : "./worker_main.ts";

/** A guest's thread, seen from the cell's main thread. */
export class GuestWorker {
  /**
   * Settles when the thread has its code. Under `deno run` it loads that with the permissions of the thread that
   * started it, which must not give them up before.
   */
  readonly loaded: Promise<void>;
  readonly #worker: Worker;
  /** Rejects when the thread dies by itself. */
  readonly #failure: Promise<never>;

  /** Starts the thread with these permission lists; it holds its creator up for some 25 ms. */
  constructor(permissions: PermissionLists) {
    this.#worker = new Worker(new URL(ENTRY, import.meta.url), {
      type: "module",
      name: "guest",
      deno: { permissions: workerPermissions(permissions) },
    });
    this.#failure = new Promise((_, reject) => {
      this.#worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
    });
    if (Deno.build.standalone) this.#postCode();
    const up = new Promise<void>((resolve) => this.#worker.onmessage = () => resolve());
    this.loaded = Promise.race([up, this.#failure]);
    this.loaded.catch(() => {});
  }

  /** In the executable the thread gets its code from here, since it can read no file. */
  #postCode(): void {
    const pack = BOLL_BUNDLE.readPack(ENTRY);
    this.#worker.postMessage(pack, [pack.buffer]);
  }

  /** Starts the guest and settles with its report; a thread that dies by itself is an error. */
  run(
    start: Omit<GuestStart, "answer" | "stdin">,
    preopens: readonly Preopen[],
    onDenied: (d: Denial) => void,
    onCall: (call: HostCall) => void,
  ): Promise<GuestReport> {
    const answer = new SharedArrayBuffer(4);
    const word = new Int32Array(answer);
    const stdin = shareReadAhead();
    const report = new Promise<GuestReport>((resolve) => {
      this.#worker.onmessage = ({ data }: MessageEvent<FromGuest>) => {
        if (data.kind === "denied") onDenied(data.denial);
        else if (data.kind === "symlink") answerSymlink(word, preopens, data.place);
        else if (data.kind === "read_ahead") this.#readAhead(stdin);
        else if (data.kind === "host_call") onCall(callOf(data));
        else if (data.kind === "ended") resolve({ ending: data.ending, usage: data.usage });
      };
      this.#worker.postMessage({ ...start, answer, stdin } satisfies GuestStart);
    });
    return Promise.race([report, this.#failure]);
  }

  async #readAhead(shared: SharedArrayBuffer): Promise<void> {
    await answerReadAhead(shared);
    this.#worker.postMessage({ kind: "read" } satisfies ToGuest);
  }

  /**
   * Starts a guest that serves, and settles when its first instance stands, with where messages of the parent go. What
   * it says goes to `emit`. A thread that dies by itself ends the process.
   */
  async serve(
    start: Omit<ServeStart, "answer"> | Omit<ToolsStart, "answer">,
    preopens: readonly Preopen[],
    emit: (message: FromCell) => void,
  ): Promise<(message: ToCell) => void> {
    const answer = new SharedArrayBuffer(4);
    const word = new Int32Array(answer);
    const standing = new Promise<void>((resolve, reject) => {
      this.#worker.onmessage = ({ data }: MessageEvent<FromGuest>) => {
        if (data.kind === "frame") emit(data.message);
        else if (data.kind === "denied") emit({ ...data.denial, type: "denied", wall: 1 });
        else if (data.kind === "symlink") answerSymlink(word, preopens, data.place);
        else if (data.kind === "host_call") emit({ ...callOf(data), type: "host_call" });
        else if (data.kind === "serving") data.error === undefined ? resolve() : reject(new Error(data.error));
      };
      this.#worker.postMessage({ ...start, answer } as ServeStart | ToolsStart);
    });
    await Promise.race([standing, this.#failure]);
    this.#failure.catch(() => Deno.exit(1));
    return (message) => {
      if (message.type === "host_result") this.settle(message);
      else if (message.type === "delegation_end") this.end(message);
      else this.#worker.postMessage({ kind: "frame", message } satisfies ToGuest);
    };
  }

  /** Hands the guest's host an answer of the parent. */
  settle(result: HostResult): void {
    this.#worker.postMessage({ kind: "host_result", ...result } satisfies ToGuest);
  }

  /** Tells the guest's host that a delegation has ended. */
  end({ delegation_id, text }: DelegationEnd): void {
    this.#worker.postMessage({ kind: "delegation_end", delegation_id, text } satisfies ToGuest);
  }
}

/** These fields and no other that injected code may have added. */
function callOf(asked: HostCall): HostCall {
  const { id, name, args } = asked;
  const { call } = asked as { readonly call?: number };
  return { id, name, args, ...(call === undefined ? {} : { call }) } as HostCall;
}

function answerSymlink(word: Int32Array, preopens: readonly Preopen[], place: SymlinkPlace): void {
  let answer = "made";
  try {
    symlinkInside(preopens, place);
  } catch (error) {
    answer = typeof error === "string" ? error : "io";
  }
  const index = SYMLINK_ANSWERS.indexOf(answer);
  Atomics.store(word, 0, index < 1 ? SYMLINK_ANSWERS.indexOf("io") : index);
  Atomics.notify(word, 0);
}
