/**
 * Random programs against WASI: each step is a call with hostile arguments on whatever handles there are by then. The same
 * text runs in this process against `createWasi` and inside a real guest, whose bindings have the same names.
 * @module
 */
import fc from "fast-check";

/** One call: `op` is folded into the calls there are, `on` and `with` into the handles of their kind. */
export interface Step {
  readonly op: number;
  readonly on: number;
  readonly with: number;
  readonly path: string;
  readonly other: string;
  readonly flags: number;
  /** Decimal, so that it is JSON and no number cuts it. */
  readonly length: string;
  readonly offset: string;
}

const NAMES = [
  ...["a", "b", "c", "d", "..", ".", "", "out", "abs", "climb", "loop", "pipe", "socket", "deep", "file", "secret"],
  ...["dangling", "\u{1f600}", "é", "a\\b", "a\nb", "\x1b[2J", "\ufeff", "con", "x".repeat(255), "x".repeat(256)],
];
const WHOLE = [
  ...["/etc/passwd", "/", "", "../outside/secret", "a/../../outside/secret", "out/secret", "abs/passwd", "\0", "a\0b"],
  ...["./././a", "a//b", "a/", "a/.", "a/..", "../root/a", "x/".repeat(2100), "../".repeat(700), "deep/deep/deep/file"],
  ...[
    "/proc/self/environ",
    "/dev/zero",
    "pipe",
    "pipe/",
    "climb/secret",
    "loop/a",
    "..\\..\\etc",
    "file:///etc/passwd",
  ],
];
const path = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map((names) => names.join("/")),
  },
  { weight: 2, arbitrary: fc.constantFrom(...WHOLE) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 10 }) },
);
const number = fc.oneof(
  fc.nat(10).map(BigInt),
  fc.nat(2 ** 21).map(BigInt),
  fc.constantFrom(
    0n,
    1n,
    4095n,
    4096n,
    65_536n,
    2n ** 31n,
    2n ** 32n,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 63n,
    2n ** 64n - 1n,
  ),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
).map(String);

/** A program. */
export const program: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    op: fc.nat(1 << 20),
    on: fc.nat(1 << 10),
    with: fc.nat(1 << 10),
    path,
    other: path,
    flags: fc.nat(0x3fff),
    length: number,
    offset: number,
  }),
  { minLength: 1, maxLength: 60, size: "max" },
);

/** What one program saw: every text it was given, and what was thrown that no WASI value is. */
export interface Seen {
  readonly texts: string[];
  readonly faults: string[];
}

/** Runs a program. Self-contained: its text is sent into a guest too. What it may not call has a name and no binding. */
// deno-lint-ignore no-explicit-any
export function runProgram(steps: readonly Step[], wasi: any, isTrap: (error: any) => boolean): Seen {
  const seen: Seen = { texts: [], faults: [] };
  const directories = wasi.preopens.getDirectories();
  // deno-lint-ignore no-explicit-any
  const kinds: Record<string, any[]> = {
    descriptor: directories.map((entry: [unknown, string]) => entry[0]),
    input: [],
    output: [],
    entries: [],
    pollable: [],
    error: [],
  };
  // deno-lint-ignore no-explicit-any
  const keep = (kind: string, handle: any) => {
    const list = kinds[kind]!;
    if (list.length < 40) list.push(handle);
    else list[list.length - 1 - (seen.texts.length % 20)] = handle;
  };
  const decoder = { decode: (bytes: Uint8Array) => String.fromCharCode(...bytes.subarray(0, 4096)) };
  // deno-lint-ignore no-explicit-any
  const calls: Record<string, (on: any, step: any) => any> = {};
  // deno-lint-ignore no-explicit-any
  const call = (name: string, act: (on: any, step: any) => any) => void (calls[name] = act);
  const bit = (flags: number, at: number) => ((flags >> at) & 1) === 1;
  // deno-lint-ignore no-explicit-any
  const other = (step: any) => kinds.descriptor![step.with % kinds.descriptor!.length];
  // A guest may bind u64 as another type than bigint.
  const part = (value: unknown, below: bigint) => wasi.u64(BigInt(value as bigint) % below);
  const bytes = (length: unknown, below = 70_000n) => new Uint8Array(Number(part(length, below))).fill(65);
  const time = (flags: number, seconds: bigint) =>
    bit(flags, 0) ? { tag: "no-change" } : bit(flags, 1) ? { tag: "now" } : {
      tag: "timestamp",
      val: { seconds, nanoseconds: bit(flags, 2) ? 999_999_999 : bit(flags, 3) ? 4_294_967_295 : 0 },
    };
  call("descriptor.open", (on, { path, flags }) =>
    keep(
      "descriptor",
      on.openAt(
        { symlinkFollow: bit(flags, 0) },
        path,
        {
          create: bit(flags, 1),
          directory: bit(flags, 2) && bit(flags, 3),
          exclusive: bit(flags, 4),
          truncate: bit(flags, 5),
        },
        {
          read: !bit(flags, 6) || bit(flags, 12),
          write: bit(flags, 7),
          fileIntegritySync: bit(flags, 8) && bit(flags, 13),
          dataIntegritySync: bit(flags, 9) && bit(flags, 13),
          requestedWriteSync: bit(flags, 10) && bit(flags, 13),
          mutateDirectory: bit(flags, 11),
        },
      ),
    ));
  calls["descriptor.openFile"] = calls["descriptor.open"]!;
  call("descriptor.read", (on, { length, offset }) => decoder.decode(on.read(length, offset)[0]));
  call("descriptor.readStart", (on, { length }) => decoder.decode(on.read(length, wasi.u64(0n))[0]));
  call("descriptor.write", (on, { length, offset }) => on.write(bytes(length), offset));
  call(
    "descriptor.readViaStream",
    (on, { offset, flags }) => keep("input", on.readViaStream(bit(flags, 0) ? wasi.u64(0n) : offset)),
  );
  call("descriptor.writeViaStream", (on, { offset }) => keep("output", on.writeViaStream(offset)));
  call("descriptor.appendViaStream", (on) => keep("output", on.appendViaStream()));
  call("descriptor.setSize", (on, { length }) => on.setSize(length));
  call("descriptor.advise", (on, { length, offset }) => on.advise(offset, length, "normal"));
  call("descriptor.sync", (on) => on.sync());
  call("descriptor.syncData", (on) => on.syncData());
  call("descriptor.getFlags", (on) => on.getFlags());
  call("descriptor.getType", (on) => on.getType());
  call("descriptor.stat", (on) => on.stat());
  call(
    "descriptor.setTimes",
    (on, { flags, offset, length }) => on.setTimes(time(flags, offset), time(flags >> 4, length)),
  );
  call("descriptor.isSameObject", (on, step) => on.isSameObject(other(step)));
  call("descriptor.metadataHash", (on) => on.metadataHash());
  call("descriptor.readDirectory", (on) => keep("entries", on.readDirectory()));
  call("descriptor.statAt", (on, { flags, path }) => on.statAt({ symlinkFollow: bit(flags, 0) }, path));
  call("descriptor.metadataHashAt", (on, { flags, path }) => on.metadataHashAt({ symlinkFollow: bit(flags, 0) }, path));
  call(
    "descriptor.setTimesAt",
    (on, { flags, path, offset, length }) =>
      on.setTimesAt({ symlinkFollow: bit(flags, 8) }, path, time(flags, offset), time(flags >> 4, length)),
  );
  call("descriptor.createDirectoryAt", (on, { path }) => on.createDirectoryAt(path));
  call("descriptor.removeDirectoryAt", (on, { path }) => on.removeDirectoryAt(path));
  call("descriptor.unlinkFileAt", (on, { path }) => on.unlinkFileAt(path));
  call("descriptor.renameAt", (on, step) => on.renameAt(step.path, other(step), step.other));
  call(
    "descriptor.linkAt",
    (on, step) => on.linkAt({ symlinkFollow: bit(step.flags, 0) }, step.path, other(step), step.other),
  );
  call("descriptor.symlinkAt", (on, { path, other }) => on.symlinkAt(path, other));
  call("descriptor.readlinkAt", (on, { path }) => on.readlinkAt(path));
  call("entries.read", (on) => on.readDirectoryEntry()?.name);
  call("input.read", (on, { length }) => decoder.decode(on.read(length)));
  call("input.blockingRead", (on, { length }) => decoder.decode(on.blockingRead(length)));
  call("input.skip", (on, { length }) => on.skip(length));
  call("input.subscribe", (on) => keep("pollable", on.subscribe()));
  call("output.checkWrite", (on) => on.checkWrite());
  call("output.write", (on, { length }) => on.write(bytes(length)));
  call("output.blockingWriteAndFlush", (on, { length }) => on.blockingWriteAndFlush(bytes(length, 4097n)));
  call("output.flush", (on) => on.flush());
  call("output.writeZeroes", (on, { length }) => on.writeZeroes(part(length, 100_000n)));
  call("output.blockingWriteZeroesAndFlush", (on, { length }) => on.blockingWriteZeroesAndFlush(part(length, 4097n)));
  call("output.splice", (on, step) => on.splice(kinds.input![step.with % kinds.input!.length], step.length));
  call(
    "output.blockingSplice",
    (on, step) => on.blockingSplice(kinds.input![step.with % kinds.input!.length], step.length),
  );
  call("output.subscribe", (on) => keep("pollable", on.subscribe()));
  call("pollable.ready", (on) => on.ready());
  call("pollable.poll", () => {
    const ready = kinds.pollable!.filter((pollable) => pollable.ready());
    if (ready.length > 0) wasi.poll.poll(ready);
  });
  call("pollable.clock", (_, { length }) => keep("pollable", wasi.monotonicClock.subscribeDuration(length)));
  call("pollable.instant", (_, { length }) => keep("pollable", wasi.monotonicClock.subscribeInstant(length)));
  call("error.debug", (on) => on.toDebugString());
  call("error.code", (on) => wasi.fs.filesystemErrorCode(on));
  call("descriptor.now", () => [wasi.wallClock.now(), wasi.monotonicClock.now(), wasi.wallClock.resolution()]);
  call("descriptor.random", (_, { length }) => wasi.random.getRandomBytes(part(length, 100_000n)).length);
  call("descriptor.stdin", () => keep("input", wasi.stdin()));
  call("descriptor.stderr", () => keep("output", wasi.stderr()));
  call("descriptor.environment", () => [wasi.environment.getArguments(), wasi.environment.getEnvironment()]);
  const drop = (kind: string, at: number) => {
    const list = kinds[kind]!;
    const index = at % list.length;
    if (kind === "descriptor" && index < directories.length) return;
    const [handle] = list.splice(index, 1);
    const dispose = handle[Symbol.dispose] ?? handle[Symbol.for("dispose")];
    if (typeof dispose === "function") dispose.call(handle);
  };
  for (const kind of ["descriptor", "entries", "input", "output", "pollable"]) {
    call(`${kind}.drop`, (_, { on }) => drop(kind, on));
  }
  const names = Object.keys(calls);
  // deno-lint-ignore no-explicit-any
  const text = (value: any): string => {
    if (value === undefined || value === null) return "";
    if (typeof value !== "object") return String(value);
    return Object.values(value).map(text).join(" ");
  };
  // deno-lint-ignore no-explicit-any
  const note = (name: string, thrown: any) => {
    const value = thrown?.payload ?? thrown;
    if (typeof value === "string") return void seen.texts.push(value);
    if (typeof value?.tag === "string" && !(value instanceof Error)) {
      if (value.val !== undefined && typeof value.val === "object") {
        keep("error", value.val);
        seen.texts.push(value.val.toDebugString());
      }
      return;
    }
    if (!isTrap(thrown)) seen.faults.push(`${name}: ${thrown}`);
  };
  for (const step of steps) {
    const name = names[step.op % names.length]!;
    const list = kinds[name.slice(0, name.indexOf("."))]!;
    const needsInput = name.includes("plice");
    const makes = name === "pollable.clock" || name === "pollable.instant";
    if ((list.length === 0 && !makes) || (needsInput && kinds.input!.length === 0)) continue;
    try {
      const given = calls[name]!(list[step.on % Math.max(list.length, 1)], {
        ...step,
        length: wasi.u64(BigInt(step.length)),
        offset: wasi.u64(BigInt(step.offset)),
      });
      if (given !== undefined) seen.texts.push(text(given));
    } catch (thrown) {
      note(name, thrown);
    }
  }
  return seen;
}
