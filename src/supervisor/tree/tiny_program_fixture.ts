/** A program of a few hundred bytes, for tests that start ten thousand: no shell, no library, no interpreter. */

/** Where an executable of this kind stands in memory. */
const BASE = 0x400000;
const HEADERS = 64 + 56;
const READ_AND_EXECUTE = 5;

/** Writes `head`, then its first argument, of which it takes `argumentBytes`, and exits with 0. */
interface TinyProgram {
  readonly head: Uint8Array;
  readonly argumentBytes: number;
}

/** Machines: their number in an executable's header, and their instructions. */
const MACHINES: Readonly<Record<string, readonly [machine: number, code: (program: TinyProgram) => number[]]>> = {
  x86_64: [62, codeForX64],
  aarch64: [183, codeForArm64],
};

/** The bytes of an executable for Linux on this machine; undefined elsewhere. */
export function tinyProgram(program: TinyProgram): Uint8Array<ArrayBuffer> | undefined {
  const known = MACHINES[Deno.build.arch];
  if (Deno.build.os !== "linux" || known === undefined) return undefined;
  const [machine, codeFor] = known;
  const code = codeFor(program);
  const size = HEADERS + code.length + program.head.length;
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  for (const [at, value] of [[16, 2], [18, machine], [52, 64], [54, 56], [56, 1]] as const) {
    view.setUint16(at, value, true);
  }
  for (const [at, value] of [[20, 1], [64, 1], [68, READ_AND_EXECUTE]] as const) view.setUint32(at, value, true);
  const entry = BASE + HEADERS;
  for (const [at, value] of [[24, entry], [32, 64], [80, BASE], [88, BASE], [96, size], [104, size], [112, 0x1000]]) {
    view.setBigUint64(at!, BigInt(value!), true);
  }
  bytes.set(code, HEADERS);
  bytes.set(program.head, HEADERS + code.length);
  return bytes;
}

function codeForX64({ head, argumentBytes }: TinyProgram): number[] {
  const write = [0xb8, 1, 0, 0, 0, 0xbf, 1, 0, 0, 0]; // mov eax, 1 (write); mov edi, 1 (stdout)
  const fromHead = (distance: number) => [0x48, 0x8d, 0x35, ...word(distance)]; // lea rsi, [rip + distance]
  const fromArgument = [0x48, 0x8b, 0x74, 0x24, 16]; // mov rsi, [rsp + 16]
  const length = (bytes: number) => [0xba, ...word(bytes), 0x0f, 0x05]; // mov edx, bytes; syscall
  const exit = [0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05]; // mov eax, 60; xor edi, edi; syscall
  const rest = [...length(head.length), ...write, ...fromArgument, ...length(argumentBytes), ...exit];
  return [...write, ...fromHead(rest.length), ...rest];
}

function codeForArm64({ head, argumentBytes }: TinyProgram): number[] {
  const set = (register: number, value: number) => 0xd2800000 | (value << 5) | register; // mov x, #value
  const fromHead = (distance: number) => 0x10000000 | ((distance >> 2) << 5) | ((distance & 3) << 29) | 1; // adr x1
  const call = 0xd4000001; // svc #0
  const rest = [
    ...[set(2, head.length), set(8, 64), call],
    ...[set(0, 1), 0xf9400be1, set(2, argumentBytes), set(8, 64), call], // ldr x1, [sp, #16]
    ...[set(0, 0), set(8, 93), call],
  ];
  return [set(0, 1), fromHead(4 * (rest.length + 1)), ...rest].flatMap(word);
}

function word(value: number): number[] {
  return [value, value >>> 8, value >>> 16, value >>> 24].map((byte) => byte & 0xff);
}
