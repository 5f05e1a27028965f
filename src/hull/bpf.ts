/** One classic BPF instruction: operation, jump if true, jump if false (both relative), constant. */
export type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, constant: number];

/** The operations that the filter uses (linux/bpf_common.h). */
export const OPERATION = {
  loadWord: 0x20,
  and: 0x54,
  jumpIfEqual: 0x15,
  jumpIfAtLeast: 0x35,
  jumpIfGreater: 0x25,
  return: 0x06,
} as const;

/**
 * What a filter answers (linux/seccomp.h): let it happen, the two errors, or do nothing and return 0. Nothing is ever
 * killed: a killed thread makes a worker vanish in silence.
 */
export const ACTION = { allow: 0x7fff0000, eperm: 0x00050001, enosys: 0x00050026, zero: 0x00050000 } as const;

/** Byte offsets in `struct seccomp_data`. */
export const DATA = { number: 0, architecture: 4, argument: 16 } as const;

/** A test on one half of an argument: `(half & mask)` must be one of `values`. */
export interface Condition {
  /** Index of the argument, 0-5. */
  readonly argument: number;
  readonly half: "low" | "high";
  /** Default: all bits. */
  readonly mask?: number;
  readonly values: readonly number[];
}

/** Two neighbouring arguments, judged together. */
export interface Pair {
  readonly argument: number;
  readonly values: readonly [first: number, second: number];
}

/** Ends the filter with `action`. */
export function answer(action: number): Instruction {
  return [OPERATION.return, 0, 0, action];
}

/** `body` for the call `number` (every way through it must end in an answer); other calls go on behind it. */
export function onCall(number: number, body: readonly Instruction[]): Instruction[] {
  if (body.length > 255) throw new RangeError(`Filter body of ${body.length} instructions: a jump reaches 255`);
  return [[OPERATION.jumpIfEqual, 0, body.length, number], ...body];
}

/** Allows if every condition holds, else EPERM. */
export function allowIf(conditions: readonly Condition[]): Instruction[] {
  return [...conditions.flatMap(check), answer(ACTION.allow)];
}

/** Allows if the low words of the arguments `pair.argument` and the next one are exactly these; else goes on behind it. */
export function allowPair(pair: Pair): Instruction[] {
  const load = (argument: number): Instruction => [OPERATION.loadWord, 0, 0, DATA.argument + 8 * argument];
  return [
    load(pair.argument),
    [OPERATION.jumpIfEqual, 0, 3, pair.values[0]],
    load(pair.argument + 1),
    [OPERATION.jumpIfEqual, 0, 1, pair.values[1]],
    answer(ACTION.allow),
  ];
}

function check({ argument, half, mask, values }: Condition): Instruction[] {
  const offset = DATA.argument + 8 * argument + (half === "low" ? 0 : 4); // both architectures are little-endian
  const load: Instruction[] = [[OPERATION.loadWord, 0, 0, offset]];
  if (mask !== undefined) load.push([OPERATION.and, 0, 0, mask]);
  // A match jumps over the remaining tests and the refusal behind them.
  const tests = values.map((value, i): Instruction => [OPERATION.jumpIfEqual, values.length - i, 0, value]);
  return [...load, ...tests, answer(ACTION.eperm)];
}

/** Answers `action` to every number of `numbers`; other calls go on behind it. Neighbours share one test. */
export function onAnyOf(numbers: readonly number[], action: number): Instruction[] {
  const sorted = Uint32Array.from(numbers).sort();
  const program: Instruction[] = [];
  for (let i = 0; i < sorted.length; i++) {
    const first = sorted[i]!;
    while (sorted[i + 1] === sorted[i]! + 1) i++;
    program.push([OPERATION.jumpIfAtLeast, 0, 2, first], [OPERATION.jumpIfGreater, 1, 0, sorted[i]!], answer(action));
  }
  return program;
}

/** The bytes of `struct sock_filter[]`, little-endian. */
export function assemble(program: readonly Instruction[]): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(program.length * 2);
  let next = 0;
  for (const [code, jumpTrue, jumpFalse, constant] of program) {
    words[next++] = code | jumpTrue << 16 | jumpFalse << 24;
    words[next++] = constant;
  }
  return new Uint8Array(words.buffer);
}
