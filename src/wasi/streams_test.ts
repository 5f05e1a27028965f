import { assert, assertEquals, assertInstanceOf, assertRejects, assertThrows, unreachable } from "@std/assert";
import { LimitReached } from "./endings.ts";
import type { WasiOptions } from "./host.ts";
import { createWasi } from "./host.ts";
import { bareOptions, openFixture, readText, thrown, WIDE_LIMITS, writeText } from "./host_fixture.ts";
import type { InputStream } from "./input_stream.ts";
import { sourceReadiness } from "./io.ts";
import { IoError } from "./io_error.ts";
import type { OutputStream } from "./output_stream.ts";
import type { Pollable } from "./pollable.ts";
import { type ByteSink, type ByteSource, SinkClosed, type SourceChunk } from "./ports.ts";

const HUGE = 2n ** 64n - 1n;
const BOTH = { read: true, write: true };
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (list: Uint8Array) => new TextDecoder().decode(list);

/** A source that answers with `chunks` one by one; an Error among them is thrown. */
function sourceOf(...chunks: (SourceChunk | Error)[]): ByteSource {
  const next = (maxBytes: number) => {
    const chunk = chunks.shift();
    if (chunk instanceof Error) throw chunk;
    if (chunk === undefined || chunk.length <= maxBytes) return chunk;
    chunks.unshift(chunk.subarray(maxBytes));
    return chunk.subarray(0, maxBytes);
  };
  return { read: next, blockingRead: next, ready: () => true, wait: () => Promise.resolve() };
}

/** A sink that remembers, and throws `failure` once it is set. */
function memorySink(): ByteSink & { taken: number[]; failure?: Error; calls: number } {
  return {
    taken: [],
    calls: 0,
    budget: () => 4096,
    write(chunk) {
      if (this.failure !== undefined) throw this.failure;
      this.calls++;
      this.taken.push(...chunk);
    },
  };
}

function stdio(options: Partial<WasiOptions>) {
  const wasi = createWasi(bareOptions(options));
  const get = <T>(name: string, method: string) => (wasi.imports[name]![method] as () => T)();
  return {
    wasi,
    stdin: () => get<InputStream>("wasi:cli/stdin", "getStdin"),
    stdout: () => get<OutputStream>("wasi:cli/stdout", "getStdout"),
    stderr: () => get<OutputStream>("wasi:cli/stderr", "getStderr"),
    poll: wasi.imports["wasi:io/poll"]!["poll"] as (list: Pollable[]) => Promise<Uint32Array>,
    timer: wasi.imports["wasi:clocks/monotonic-clock"]!["subscribeDuration"] as (ns: bigint) => Pollable,
  };
}

Deno.test("input-stream: read, skip, the end, and closed ever after", () => {
  const { stdin } = stdio({ stdin: sourceOf(bytes("hello"), new Uint8Array(0), bytes("you")) });
  const stream = stdin();
  assertEquals(text(stream.read(2n)), "he");
  assertEquals(stream.read(0n).length, 0);
  assertEquals(stream.skip(1n), 1n);
  assertEquals(text(stream.blockingRead(HUGE) as Uint8Array), "lo");
  assertEquals(stream.read(HUGE).length, 0);
  assertEquals(stream.blockingSkip(HUGE), 3n);
  for (let count = 0; count < 2; count++) assertEquals(thrown(() => stream.read(1n)), { tag: "closed" });
  assertEquals(thrown(() => stream.blockingRead(0n)), { tag: "closed" });
  assert(stream.subscribe().ready());
});

Deno.test("input-stream: a failed read says its code and no path, then the stream is closed", () => {
  const { stdin, wasi } = stdio({ stdin: sourceOf(new Deno.errors.NotFound("No such file (os error 2): '/home/x'")) });
  const stream = stdin();
  const error = thrown(() => stream.read(1n)) as { tag: string; val: IoError };
  assertEquals(error.tag, "last-operation-failed");
  assertEquals(error.val.toDebugString(), "no-entry");
  const filesystemErrorCode = wasi.imports["wasi:filesystem/types"]!["filesystemErrorCode"] as (e: IoError) => unknown;
  assertEquals(filesystemErrorCode(error.val), "no-entry");
  assertEquals(thrown(() => stream.read(1n)), { tag: "closed" });
});

Deno.test("input-stream: would-block is a failure that leaves the stream open", () => {
  const stream = stdio({ stdin: sourceOf(new Deno.errors.WouldBlock("(os error 11)"), bytes("x")) }).stdin();
  const error = thrown(() => stream.blockingRead(1n)) as { tag: string; val: IoError };
  assertEquals([error.tag, error.val.fileCode], ["last-operation-failed", "would-block"]);
  assertEquals(text(stream.blockingRead(1n) as Uint8Array), "x");
});

Deno.test("output-stream: check-write, write, flush, zeroes and the blocking ones", () => {
  const sink = memorySink();
  const stream = stdio({ stdout: sink }).stdout();
  assertEquals(stream.checkWrite(), 4096n);
  stream.write(bytes("a"));
  stream.blockingWriteAndFlush(bytes("b"));
  stream.writeZeroes(2n);
  stream.blockingWriteZeroesAndFlush(1n);
  stream.writeZeroes(0n);
  assertEquals([stream.flush(), stream.blockingFlush()], [undefined, undefined]);
  assertEquals(sink.taken, [97, 98, 0, 0, 0]);
  assert(stream.subscribe().ready());
  stream[Symbol.dispose]();
  assertEquals(thrown(() => stream.write(bytes("c"))), { tag: "closed" });
});

Deno.test("output-stream: a reader that went away closes stdout, says so, and stderr stays", () => {
  const [sink, errors] = [memorySink(), memorySink()];
  const { wasi, stdout, stderr } = stdio({ stdout: sink, stderr: errors });
  stdout().write(bytes("fine"));
  assertEquals(wasi.stdoutClosed(), false);
  sink.failure = new SinkClosed("gone");
  const stream = stdout();
  for (let count = 0; count < 2; count++) assertEquals(thrown(() => stream.write(bytes("x"))), { tag: "closed" });
  for (const call of [() => stream.checkWrite(), () => stream.flush(), () => stream.writeZeroes(1n)]) {
    assertEquals(thrown(call), { tag: "closed" });
  }
  stderr().write(bytes("still"));
  assertEquals([wasi.stdoutClosed(), wasi.outputBytes(), errors.taken.length], [true, 9, 5]);
});

Deno.test("output-stream: a failed write says its code, then the stream is closed", () => {
  const sink = memorySink();
  sink.failure = new Error("No space left on device (os error 28)");
  const stream = stdio({ stdout: sink }).stdout();
  const error = thrown(() => stream.write(bytes("x"))) as { tag: string; val: IoError };
  assertEquals([error.tag, error.val.toDebugString()], ["last-operation-failed", "insufficient-space"]);
  assertEquals(thrown(() => stream.write(bytes("x"))), { tag: "closed" });
});

Deno.test("output_bytes: exactly the limit is written by stdout and stderr together, one more ends the run", () => {
  const [out, err] = [memorySink(), memorySink()];
  const limits = { ...WIDE_LIMITS, outputBytes: 10 };
  const { wasi, stdout, stderr } = stdio({ stdout: out, stderr: err, limits });
  stdout().write(bytes("123456"));
  stderr().write(bytes("7890"));
  assertEquals(wasi.limitReached(), undefined);
  const reached = thrown(() => stdout().blockingWriteAndFlush(bytes("x")));
  assertInstanceOf(reached, LimitReached);
  assertEquals(wasi.limitReached(), "output"); // also when the guest catches it and goes on
  assertEquals([reached.limit, out.taken.length + err.taken.length, wasi.outputBytes()], ["output", 10, 10]);
});

Deno.test("write-zeroes: as many as check-write allows end at the limit, more is a trap that writes nothing", () => {
  const sink = memorySink();
  const { stdout } = stdio({ stdout: sink, limits: { ...WIDE_LIMITS, outputBytes: 10_000 } });
  const permit = stdout().checkWrite();
  assertThrows(() => stdout().writeZeroes(HUGE), Error, "more than check-write allows");
  assertThrows(() => stdout().blockingWriteZeroesAndFlush(permit + 1n), Error, "more than check-write allows");
  assertEquals(sink.taken.length, 0);
  const endless = () => {
    for (;;) stdout().writeZeroes(permit);
  };
  assertInstanceOf(thrown(endless), LimitReached);
  assertEquals(sink.taken.length, 10_000);
});

Deno.test("splice: moves what is there, no more than the sink takes, and ends with its source", () => {
  const sink = memorySink();
  const { stdin, stdout } = stdio({ stdin: sourceOf(new Uint8Array(5000)), stdout: sink });
  const [from, to] = [stdin(), stdout()];
  assertEquals(to.splice(from, 0n), 0n);
  assertEquals(to.splice(from, HUGE), 4096n);
  assertEquals(to.blockingSplice(from, HUGE), 904n);
  assertEquals(thrown(() => to.splice(from, 1n)), { tag: "closed" });
  assertEquals(sink.taken.length, 5000);
  to.write(bytes("x"));
});

Deno.test("splice: a forged stream is a TypeError", () => {
  const { wasi, stdout } = stdio({ stdout: memorySink() });
  const { InputStream: Exported } = wasi.imports["wasi:io/streams"] as { InputStream: { prototype: object } };
  assertInstanceOf(thrown(() => stdout().splice(Object.create(Exported.prototype), 1n)), TypeError);
});

Deno.test("file streams: read, write and append keep their own positions", () => {
  using fixture = openFixture();
  const { rw } = fixture;
  const file = rw.openAt({}, "f", { create: true }, BOTH);
  const [writer, appender] = [file.writeViaStream(2n), file.appendViaStream()];
  writer.write(bytes("abc"));
  appender.write(bytes("END"));
  writer.write(bytes("de"));
  assertEquals(readText(rw, "f"), "\0\0abcdeD");
  const [first, second] = [file.readViaStream(2n), file.readViaStream(7n)];
  assertEquals(text(first.read(2n)), "ab");
  assertEquals(text(second.read(9n)), "D");
  assertEquals(text(first.read(9n)), "cdeD");
  assertEquals(thrown(() => first.read(1n)), { tag: "closed" });
  assertEquals(thrown(() => file.readViaStream(HUGE).read(1n)), { tag: "closed" });
});

Deno.test("file streams: live on when their descriptor is dropped", () => {
  using fixture = openFixture();
  writeText(fixture.rw, "f", "text");
  const file = fixture.rw.openAt({}, "f", {}, { read: true });
  const stream = file.readViaStream(0n);
  file[Symbol.dispose]();
  assertEquals(text(stream.read(9n)), "text");
});

Deno.test("file streams: the limits of a file and of the run are stream errors", () => {
  using fixture = openFixture({ limits: { ...WIDE_LIMITS, fileBytes: 100_000, workBytes: 150_000 } });
  const { rw } = fixture;
  const code = (act: () => unknown) => (thrown(act) as { val: IoError }).val.fileCode;
  const file = (path: string) => rw.openAt({}, path, { create: true }, BOTH);
  file("fits").appendViaStream().writeZeroes(100_000n);
  assertEquals(code(() => file("fits").appendViaStream().write(bytes("x"))), "file-too-large");
  assertEquals(code(() => file("more").writeViaStream(0n).writeZeroes(60_000n)), "quota");
  assertEquals(code(() => file("far").writeViaStream(HUGE).write(bytes("x"))), "file-too-large");
  assertEquals([rw.statAt({}, "fits").size, rw.statAt({}, "more").size], [100_000n, 50_000n]);
});

Deno.test("file streams: a whole file passes from one to another by splices", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  const content = crypto.getRandomValues(new Uint8Array(65_536));
  for (let count = 0; count < 40; count++) Deno.writeFileSync(`${root}/from`, content, { append: true });
  const from = rw.openAt({}, "from", {}, { read: true }).readViaStream(0n);
  const to = rw.openAt({}, "to", { create: true }, { write: true }).writeViaStream(0n);
  let moved = 0n;
  try {
    for (;;) moved += to.blockingSplice(from, HUGE) as bigint;
  } catch (error) {
    assertEquals(error, { tag: "closed" });
  }
  assertEquals(moved, 40n * 65_536n);
  assertEquals(Deno.readFileSync(`${root}/to`), Deno.readFileSync(`${root}/from`));
});

Deno.test("poll: answers which are ready, waits for the first, traps on an empty list", async () => {
  const { poll, timer, stdout } = stdio({ stdout: memorySink() });
  const out = stdout().subscribe();
  assertEquals([...await poll([timer(HUGE), out, timer(0n), out])], [1, 2, 3]);
  const long = timer(2n ** 62n);
  assertEquals([...await poll([long, timer(1_000_000n)])], [1]);
  assertEquals(long.ready(), false);
  await timer(1n).block();
  const error = await assertRejects(() => Promise.resolve().then(() => poll([])), Error);
  assert(error.message.includes("empty"));
});

Deno.test("poll: of a forged pollable is a TypeError", () => {
  const { wasi, poll } = stdio({});
  const { Pollable: Exported } = wasi.imports["wasi:io/poll"] as { Pollable: { prototype: object } };
  assertInstanceOf(thrown(() => poll([Object.create(Exported.prototype)])), TypeError);
});

Deno.test("poll: however often stdin is watched, one promise is waited for, and all watchers are woken", async () => {
  let waits = 0;
  let resume = () => {};
  const silent = {
    ...sourceOf(),
    ready: () => false,
    wait: () => (waits++, new Promise<void>((done) => resume = done)),
  };
  const readiness = sourceReadiness(silent);
  for (let count = 0; count < 10_000; count++) readiness.watch(() => unreachable())();
  assertEquals(waits, 1);
  const woken = new Promise<void>((done) => readiness.watch(done));
  resume();
  await woken;
  readiness.watch(() => {});
  assertEquals(waits, 2);
});
