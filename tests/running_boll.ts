/** Options of a run. */
export interface RunOptions {
  /** What standard input holds; `"open"` keeps it open until `closeStdin`. Absent: nothing, `/dev/null`. */
  stdin?: string | Uint8Array | ReadableStream<Uint8Array> | { open: true };
  /** Added to the environment of the bed. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** After this time the run is killed and the test fails: a net, never a measure. Default 60 000 ms. */
  safetyNetMs?: number;
}

/** How a run ended and what it wrote. */
export interface RunResult {
  code: number;
  signal: Deno.Signal | null;
  stdout: string;
  stdoutBytes: Uint8Array;
  stderr: string;
  /** The last line of stderr: boll's own word when the exit code is boll's. */
  lastLine: string;
  /** The last line of stderr as an object, when it is one (`--json`). */
  json: Record<string, unknown> | undefined;
}

/** A boll that was started: wait for what it writes, signal it, collect it. */
export class RunningBoll {
  readonly child: Deno.ChildProcess;
  readonly stdout: OutputReader;
  readonly stderr: OutputReader;
  readonly #input: Promise<void>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  readonly #net: number;
  #caught = false;

  constructor(child: Deno.ChildProcess, options: RunOptions) {
    this.child = child;
    this.stdout = new OutputReader(child.stdout);
    this.stderr = new OutputReader(child.stderr);
    const isOpen = typeof options.stdin === "object" && "open" in options.stdin;
    this.#writer = isOpen ? child.stdin.getWriter() : undefined;
    this.#input = isOpen
      ? Promise.resolve()
      : feed(child, options.stdin as Exclude<RunOptions["stdin"], { open: true }>);
    this.#net = setTimeout(() => this.#catch(), options.safetyNetMs ?? 60_000);
  }

  /** Writes to an open standard input. */
  async write(text: string): Promise<void> {
    await this.#writer?.write(new TextEncoder().encode(text));
  }

  /** Ends an open standard input. */
  async closeStdin(): Promise<void> {
    await this.#writer?.close().catch(ignoreBrokenPipe);
  }

  /** Waits for the end and gives all of it. */
  async result(): Promise<RunResult> {
    const [status, stdoutBytes, stderrBytes] = await Promise.all([
      this.child.status,
      this.stdout.toEnd(),
      this.stderr.toEnd(),
      this.#input,
    ]);
    await this.#writer?.abort().catch(ignoreBrokenPipe);
    clearTimeout(this.#net);
    const [stdout, stderr] = [new TextDecoder().decode(stdoutBytes), new TextDecoder().decode(stderrBytes)];
    if (this.stdout.overflowed || this.stderr.overflowed) throw new Error("boll wrote more than a test collects");
    if (this.#caught) throw new Error(`boll did not end by itself\nstdout: ${stdout.slice(-2000)}\nstderr: ${stderr}`);
    const lastLine = stderr.trimEnd().split("\n").at(-1) ?? "";
    return { code: status.code, signal: status.signal, stdout, stdoutBytes, stderr, lastLine, json: parse(lastLine) };
  }

  /** Ends what still runs, and stops listening: for a test that is over, however it went. */
  async abandon(): Promise<void> {
    clearTimeout(this.#net);
    this.#kill();
    for (const output of [this.stdout, this.stderr]) output.close();
    await this.child.status;
  }

  #catch(): void {
    this.#caught = true;
    this.#kill();
    // Somebody who was started by it may hold its outputs open.
    for (const output of [this.stdout, this.stderr]) output.close();
  }

  #kill(): void {
    try {
      this.child.kill("SIGKILL");
    } catch { /* it has ended */ }
  }
}

/** Waits for a run's end. */
export async function collect(running: RunningBoll): Promise<RunResult> {
  return await running.result();
}

/** More output than a test could mean to read; the stream is closed then, and the run's result is an error. */
const MAX_COLLECTED_BYTES = 64 * 2 ** 20;

/** Everything a stream gave so far, and a way to wait for a piece of it. */
export class OutputReader {
  readonly #chunks: Uint8Array[] = [];
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #done: Promise<void>;
  #changed = Promise.withResolvers<void>();
  #ended = false;
  #bytes = 0;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
    this.#done = this.#read();
  }

  /** Reads no further. */
  close(): void {
    this.#reader.cancel().catch(() => {});
  }

  /** Whether reading stopped because of too much output. */
  get overflowed(): boolean {
    return this.#bytes > MAX_COLLECTED_BYTES;
  }

  /** What came so far, as text. */
  get text(): string {
    return new TextDecoder().decode(concatenate(this.#chunks));
  }

  /**
   * Waits until `marker` was written and gives everything up to now.
   * @throws Error if the stream ended without it
   */
  async waitFor(marker: string | RegExp): Promise<string> {
    for (;;) {
      const text = this.text;
      if (typeof marker === "string" ? text.includes(marker) : marker.test(text)) return text;
      if (this.#ended) {
        throw new Error(`Wait for ${marker}: the stream ended with ${JSON.stringify(text.slice(-2000))}`);
      }
      await this.#changed.promise;
    }
  }

  /** All bytes, once the stream has ended. */
  async toEnd(): Promise<Uint8Array> {
    await this.#done;
    return concatenate(this.#chunks);
  }

  async #read(): Promise<void> {
    for (;;) {
      const { value: chunk } = await this.#reader.read();
      if (chunk === undefined) break;
      this.#bytes += chunk.length;
      if (this.overflowed) {
        this.close();
        break;
      }
      this.#chunks.push(chunk);
      this.#signal();
    }
    this.#ended = true;
    this.#signal();
  }

  #signal(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

async function feed(child: Deno.ChildProcess, stdin: string | Uint8Array | ReadableStream<Uint8Array> | undefined) {
  if (stdin === undefined) return;
  const body = stdin instanceof ReadableStream ? stdin : new Blob([stdin as BlobPart]).stream();
  await body.pipeTo(child.stdin).catch(ignoreBrokenPipe);
}

/** A guest need not read what it is given. */
function ignoreBrokenPipe(error: unknown): void {
  if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
}

function concatenate(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
