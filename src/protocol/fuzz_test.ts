/** Every decoder of the room against messages and frames that are almost right: 100 000 of them, always the same. */
import { assertEquals, assertInstanceOf, assertMatch } from "@std/assert";
import fc from "fast-check";
import { CapsuleError } from "../base/mod.ts";
import { FROM_CELL, TO_CELL } from "./cell_messages_fixture.ts";
import { decodeAgent, decodeControl } from "./control/mod.ts";
import { EVERY_AGENT, EVERY_CONTROL } from "./control/messages_fixture.ts";
import { decodeFromCell, decodeToCell, encodeFrame, FrameDecoder } from "./mod.ts";

type Json = Record<string, unknown>;

interface Side {
  readonly name: string;
  readonly decode: (message: Json) => unknown;
  readonly messages: readonly object[];
}

const SIDES: readonly Side[] = [
  { name: "decodeControl", decode: decodeControl, messages: EVERY_CONTROL.map(([message]) => message) },
  { name: "decodeAgent", decode: decodeAgent, messages: EVERY_AGENT.map(([message]) => message) },
  { name: "decodeToCell", decode: decodeToCell, messages: TO_CELL },
  { name: "decodeFromCell", decode: decodeFromCell, messages: FROM_CELL },
];

const MESSAGE_RUNS = 15_000;
const FRAME_RUNS = 10_000;
/** For the whole of {@link MESSAGE_RUNS} or {@link FRAME_RUNS}: far below one wrong allocation per run. */
const MAX_GROWTH_BYTES = 512 * 1024 * 1024;

function deep(levels: number): unknown {
  let value: unknown = 0;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

/** What a field may hold instead of what it should. */
const ODD_VALUES: readonly unknown[] = [
  ...[undefined, null, true, 0, -1, 0.5, 1e999, -0, NaN, 2 ** 53, 2 ** 53 - 1, -(2 ** 53), 2 ** 31, 100],
  ...["", "s3cret", "0", "\0", "\ud800", "__proto__", "constructor", "a".repeat(70_000), "*", "../..", "completed"],
  ...[[], [null], [[]], [["a"]], [["a", "b"]], [{}], Array(300).fill("s3cret"), deep(100_000)],
  ...[{}, { toString: "s3cret" }, JSON.parse('{"__proto__":{"type":"ping"}}'), { length: 1e9 }, { pattern: "s3cret" }],
];

const ODD_NAMES = ["type", "__proto__", "constructor", "toJSON", "novel", "id", "message", "value", "error", "role"];

const place = fc.nat(0xffff);
const edits = fc.array(
  fc.record({
    place,
    name: fc.option(fc.constantFrom(...ODD_NAMES), { nil: undefined, freq: 3 }),
    value: fc.nat(ODD_VALUES.length - 1),
  }),
  { minLength: 1, maxLength: 3 },
);

const cuts = fc.array(
  fc.record({
    kind: fc.constantFrom("set", "flip", "insert", "remove", "truncate", "repeat"),
    place,
    byte: fc.nat(255),
    length: fc.nat(12),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Objects and lists of a message, itself first. */
function holders(value: unknown): Json[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Json, ...Object.values(value).flatMap(holders)];
}

/** Another value at a random place, or at a name that is of no use there. */
function edit(message: object, changes: readonly { place: number; name: string | undefined; value: number }[]): Json {
  const changed: Json = JSON.parse(JSON.stringify(message));
  const all = holders(changed);
  for (const { place, name, value } of changes) {
    const holder = all[place % all.length]!;
    const names = Object.keys(holder);
    const key = (Array.isArray(holder) ? undefined : name) ?? names[Math.floor(place / all.length) % names.length] ??
      "0";
    Object.defineProperty(holder, key, {
      value: ODD_VALUES[value],
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return changed;
}

type Cut = { kind: string; place: number; byte: number; length: number };

function mutate(frame: Uint8Array, changes: readonly Cut[]): Uint8Array {
  return changes.reduce((bytes, { kind, place, byte, length }) => {
    const at = place % (bytes.length + 1);
    const before = bytes.subarray(0, at);
    const after = bytes.subarray(at);
    switch (kind) {
      case "set":
        return Uint8Array.of(...before, byte, ...after.subarray(1));
      case "flip":
        return Uint8Array.of(
          ...before,
          ...after.subarray(0, 1).map((old) => old ^ (1 << (byte & 7))),
          ...after.subarray(1),
        );
      case "insert":
        return Uint8Array.of(...before, ...Array(length).fill(byte), ...after);
      case "remove":
        return Uint8Array.of(...before, ...after.subarray(length));
      case "truncate":
        return before;
      default:
        return Uint8Array.of(...before, ...after.subarray(0, length), ...after);
    }
  }, frame);
}

/** A fault of the protocol, short, and without what it is about; anything else fails. */
function assertProtocolFault(error: unknown): void {
  assertInstanceOf(error, CapsuleError);
  assertMatch(error.code, /^protocol\./);
  assertEquals(error.message.includes("s3cret") || error.message.length > 400, false, error.message);
}

/** Decoded, or refused as it should be. What was decoded is whole: written and read again it is the same. */
function decodeOrRefuse(side: Side, message: Json): void {
  let decoded: unknown;
  try {
    decoded = side.decode(message);
  } catch (error) {
    return assertProtocolFault(error);
  }
  if (decoded === undefined || (decoded as Json)["type"] === "done") return;
  const text = JSON.stringify(decoded);
  const again = (decoded as Json)["type"] === "unknown" ? decoded : side.decode(JSON.parse(text));
  assertEquals(JSON.stringify(again), text);
}

function assertBoundedMemory(run: () => void): void {
  const before = Deno.memoryUsage().rss;
  run();
  const grown = Deno.memoryUsage().rss - before;
  assertEquals(grown < MAX_GROWTH_BYTES, true, `grown by ${grown} bytes`);
}

SIDES.forEach((side, i) => {
  const message = fc.constantFrom(...side.messages);

  Deno.test(`${side.name}: ${MESSAGE_RUNS} messages with odd values in them are decoded or refused`, () => {
    assertBoundedMemory(() => {
      fc.assert(
        fc.property(message, edits, (message, edits) => decodeOrRefuse(side, edit(message, edits))),
        { numRuns: MESSAGE_RUNS, seed: 0xb011 + i },
      );
    });
  });

  Deno.test(`${side.name}: ${FRAME_RUNS} broken frames, cut anywhere, are decoded or refused`, () => {
    assertBoundedMemory(() => {
      fc.assert(
        fc.property(message, cuts, place, (message, cuts, split) => {
          const bytes = mutate(encodeFrame(message), cuts);
          const decoder = new FrameDecoder();
          try {
            for (const chunk of [bytes.subarray(0, split % bytes.length), bytes.subarray(split % bytes.length)]) {
              for (const heard of decoder.push(chunk)) decodeOrRefuse(side, heard);
            }
            decoder.end();
          } catch (error) {
            assertProtocolFault(error);
          }
        }),
        { numRuns: FRAME_RUNS, seed: 0xb011 + i },
      );
    });
  });
});
