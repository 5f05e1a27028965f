/**
 * A session below a supervisor, driven by raw frames: the real process, from source or of the executable.
 */
import type { DoorSpec, SpawnPayload } from "../../src/protocol/control/mod.ts";
import { encodeFrame, FrameDecoder } from "../../src/protocol/mod.ts";
import type { PreparedSession } from "../../src/session/mod.ts";
import type { Bed, TraceEvent } from "../harness.ts";
import { OutputReader } from "../running_boll.ts";
import { prepareCapsule, type SessionOptions } from "./prepare_capsule.ts";
import { warmGuest } from "../warm_cache.ts";

export { prepareCapsule, type SessionOptions } from "./prepare_capsule.ts";

/** What a session says, as it came. */
export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

/** A session on its feet: what it was told is its `payload`. */
export interface Started extends AsyncDisposable {
  readonly session: RunningSession;
  readonly prepared: PreparedSession;
  readonly payload: SpawnPayload;
}

/** A door on loopback that lets everybody in. */
export const DOOR: DoorSpec = {
  hostname: "127.0.0.1",
  port: 0,
  open: true,
  names: [],
  accept: "queue",
  queue_depth: 4,
  idempotent: false,
  peers: [],
};

/** Makes all that a session of the guest `name` needs, built before by the executable. */
export async function prepareGuest(bed: Bed, name: string, options: SessionOptions = {}): Promise<PreparedSession> {
  const path = Deno.realPathSync(await warmGuest(bed, name));
  return await prepareCapsule(bed, path, options);
}

/** Starts a session of the guest `name` and tells it what to do. */
export async function startSession(bed: Bed, name: string, options: SessionOptions = {}): Promise<Started> {
  return await startPrepared(await prepareGuest(bed, name, options));
}

/** Starts a prepared session and tells it what to do. */
export async function startPrepared(prepared: PreparedSession): Promise<Started> {
  const session = new RunningSession(prepared);
  const { payload } = prepared.launch;
  await session.send({ type: "spawn", ...payload });
  return { session, prepared, payload, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() };
}

/**
 * Starts a session of the probe, which runs the JavaScript `source`: it is up when this comes back, and has printed `up` on
 * stdout and stderr.
 */
export async function startProbeSession(bed: Bed, source: string, options: SessionOptions = {}): Promise<Started> {
  const task = { ...options.task, args: [`print("up"); printError("up"); ${source}`] };
  const started = await startSession(bed, "probe", { ...options, task });
  const over = started.session.child.status.then(({ code }) => {
    throw new Error(`Wait for a guest: its session ended with ${code}: ${started.session.stderr.text}`);
  });
  over.catch(() => {});
  await Promise.race([waitForText(stderrLog(started.prepared), "up"), over]);
  return started;
}

/** Where the guest's stderr goes. */
export function stderrLog({ places }: PreparedSession): string {
  return `${places.runtime}/logs/stderr.log`;
}

/** The answer as it lies in the records. */
export function readAnswer({ places }: PreparedSession): string {
  return Deno.readTextFileSync(`${places.out}/result.txt`);
}

/** The events of a session's trace. */
export function readTrace({ places }: PreparedSession): TraceEvent[] {
  return Deno.readTextFileSync(places.trace).trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Waits until a file holds a text; the disk is asked again and again. */
export async function waitForText(path: string, text: string): Promise<void> {
  for (let found = ""; !found.includes(text);) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    try {
      found = Deno.readTextFileSync(path);
    } catch { /* not there yet */ }
  }
}

/** How a session ended and all that it said. */
export interface SessionResult {
  readonly code: number;
  readonly signal: Deno.Signal | null;
  readonly frames: readonly Frame[];
  readonly stderr: string;
  /** The last frame. */
  readonly last: Frame | undefined;
  /** The last frame's `outcome`. */
  readonly outcome: Readonly<Record<string, unknown>> | undefined;
  /** The code of a last frame `failed`. */
  readonly failed: unknown;
}

/** One living session process. Disposing ends it, and its places with it. */
export class RunningSession implements AsyncDisposable {
  readonly child: Deno.ChildProcess;
  readonly stderr: OutputReader;
  readonly #prepared: PreparedSession;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #frames: Frame[] = [];
  readonly #reading: Promise<void>;
  readonly #net: number;
  #changed = Promise.withResolvers<void>();
  #isOver = false;
  #reply: (frame: Frame) => object | undefined = () => undefined;

  constructor(prepared: PreparedSession) {
    this.#prepared = prepared;
    const { program, args, env } = prepared.launch;
    this.child = new Deno.Command(program, {
      args: [...args],
      clearEnv: true,
      env: { ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      detached: true,
    }).spawn();
    this.#writer = this.child.stdin.getWriter();
    this.stderr = new OutputReader(this.child.stderr);
    this.#reading = this.#read();
    this.#reading.catch(() => {});
    this.#net = setTimeout(() => this.kill("SIGKILL"), 60_000); // a net, never a measure
  }

  get pid(): number {
    return this.child.pid;
  }

  /** What came so far. */
  get frames(): readonly Frame[] {
    return this.#frames;
  }

  /** Sends one message; to a session that is gone, nothing. */
  async send(message: object): Promise<void> {
    await this.sendBytes(encodeFrame(message));
  }

  /** Gives false when nobody reads any more. */
  async sendBytes(bytes: Uint8Array): Promise<boolean> {
    return await this.#writer.write(bytes).then(() => true, () => false);
  }

  async closeStdin(): Promise<void> {
    await this.#writer.close().catch(() => {});
  }

  kill(signal: Deno.Signal): void {
    try {
      this.child.kill(signal);
    } catch { /* it is gone */ }
  }

  /** From now on this is sent back to a frame, where it gives something; frames that came before are given to it, too. */
  answer(reply: (frame: Frame) => object | undefined): void {
    this.#reply = reply;
    for (const frame of this.#frames) this.#answer(frame);
  }

  /** Settles when something more came, or the end. @throws Error when stdout has ended */
  async changed(): Promise<void> {
    if (this.#isOver) throw new Error(`Wait: stdout ended with ${JSON.stringify(this.#frames)}; ${this.stderr.text}`);
    await this.#changed.promise;
  }

  #answer(frame: Frame): void {
    const message = this.#reply(frame);
    if (message !== undefined) this.send(message);
  }

  /** Waits for a frame of this type, or an event of this name. @throws Error when stdout ended without it */
  async waitFor(name: string): Promise<Frame> {
    for (;;) {
      const found = this.#frames.find(({ type, event }) => type === name || (type === "event" && event === name));
      if (found !== undefined) return found;
      if (this.#isOver) {
        throw new Error(`Wait for ${name}: stdout ended with ${JSON.stringify(this.#frames)}; ${this.stderr.text}`);
      }
      await this.#changed.promise;
    }
  }

  /** Waits for the end and gives all of it. @throws when what came on stdout were not frames, whole */
  async result(): Promise<SessionResult> {
    const { code, signal } = await this.child.status;
    await this.#reading;
    const stderr = new TextDecoder().decode(await this.stderr.toEnd());
    clearTimeout(this.#net);
    const last = this.#frames.at(-1);
    const outcome = last?.["outcome"] as Record<string, unknown> | undefined;
    const failed = (last?.["error"] as { readonly code?: unknown } | undefined)?.code;
    return { code, signal, frames: this.#frames, stderr, last, outcome, failed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill("SIGKILL");
    await this.child.status;
    await this.#reading.catch(() => {});
    await this.stderr.toEnd();
    await this.#writer.abort().catch(() => {});
    clearTimeout(this.#net);
    this.#prepared[Symbol.dispose]();
  }

  async #read(): Promise<void> {
    const decoder = new FrameDecoder();
    try {
      for await (const chunk of this.child.stdout) {
        for (const frame of decoder.push(chunk) as Iterable<Frame>) {
          this.#frames.push(frame);
          this.#answer(frame);
        }
        this.#signal();
      }
      decoder.end();
    } finally {
      this.#isOver = true;
      this.#signal();
    }
  }

  #signal(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
