import { childrenOf } from "../processes.ts";
import type { Target } from "./target.ts";

/** A service to load: a command that listens on 127.0.0.1 and says so. */
export interface Service {
  readonly name: string;
  /** Absolute path of the program. */
  readonly program: string;
  /** Called for each start, with a port that is free. */
  readonly args: (port: number) => readonly string[];
  /** Added to a cleared environment of `PATH` and `HOME`. */
  readonly env?: Readonly<Record<string, string>>;
  /** What a later request should take to its first byte, ms. */
  readonly warmTarget?: Target;
}

/** A service that listens. Disposing ends it. */
export interface RunningService extends AsyncDisposable {
  readonly service: Service;
  readonly port: number;
}

/** A net that fails the bench, never a measure. */
const START_TIMEOUT_MS = 60_000;

/** Starts a service and comes back when it says that it listens. @throws Error when it ends instead */
export async function startService(service: Service): Promise<RunningService> {
  const port = freePort();
  const child = new Deno.Command(service.program, {
    args: [...service.args(port)],
    clearEnv: true,
    env: { PATH: Deno.env.get("PATH") ?? "", HOME: Deno.env.get("HOME") ?? "", ...service.env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const outputs = [new Output(child.stdout), new Output(child.stderr)];
  const net = setTimeout(() => end(child), START_TIMEOUT_MS);
  try {
    await Promise.any(outputs.map((output) => output.listening));
  } catch {
    await child.status;
    throw new Error(`Start ${service.name}: it ended\n${outputs.map(({ text }) => text).join("\n")}`);
  } finally {
    clearTimeout(net);
  }
  return { service, port, [Symbol.asyncDispose]: () => stop(child, outputs) };
}

async function stop(child: Deno.ChildProcess, outputs: readonly Output[]): Promise<void> {
  end(child);
  await child.status;
  await Promise.all(outputs.map(({ ended }) => ended));
}

/** jco serves from a child that outlives its parent, and the parent ends with it; boll's own children are boll's. */
function end(child: Deno.ChildProcess): void {
  const [only, ...others] = childrenOf(child.pid);
  const isJco = only !== undefined && others.length === 0 && argumentsOf(only).includes("_run.js");
  if (isJco) Deno.kill(only, "SIGTERM");
  else child.kill("SIGTERM");
}

function argumentsOf(pid: number): string {
  return Deno.readTextFileSync(`/proc/${pid}/cmdline`);
}

/** All that a service writes is taken, so that it never waits for a reader; its beginning is kept. */
class Output {
  readonly listening: Promise<void>;
  readonly ended: Promise<void>;
  text = "";

  constructor(stream: ReadableStream<Uint8Array>) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.listening = promise;
    this.ended = this.#read(stream, resolve).then(() => reject(new Error("the stream ended")));
    promise.catch(() => {});
  }

  async #read(stream: ReadableStream<Uint8Array>, onListening: () => void): Promise<void> {
    for await (const piece of stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)) {
      if (this.text.length < 10_000) this.text += piece;
      if (/listening\b.*\n/i.test(this.text)) onListening();
    }
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
