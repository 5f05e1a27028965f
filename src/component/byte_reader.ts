import { CapsuleError } from "../base/mod.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Reads the binary format's numbers, names and sections out of foreign bytes; every step is checked against the end. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #base: number;
  #at = 0;

  /** `base` is where `bytes` begin in the whole file, for messages. */
  constructor(bytes: Uint8Array, base = 0) {
    this.#bytes = bytes;
    this.#base = base;
  }

  /** The offset of the next byte within these bytes. */
  get at(): number {
    return this.#at;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** @throws component.invalid at the end of the bytes */
  byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) this.fail("found the end, wanted another byte");
    this.#at++;
    return value;
  }

  /** The next byte, left where it is. @throws component.invalid */
  peek(): number {
    return this.#bytes[this.#at] ?? this.fail("found the end, wanted another byte");
  }

  /** An unsigned LEB128 of at most 32 bits. @throws component.invalid */
  u32(): number {
    const value = this.u64();
    return value <= 0xffff_ffff ? value : this.fail(`found ${value}, wanted a number below 2^32`);
  }

  /** An unsigned LEB128 of at most 64 bits; a value above 2^53-1 is given as 2^53-1. @throws component.invalid */
  u64(): number {
    let value = 0;
    for (let index = 0; index < 10; index++) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) return Math.min(value, Number.MAX_SAFE_INTEGER);
    }
    return this.fail("found a number longer than 10 bytes");
  }

  /** Steps over one LEB128 of either sign, at most 10 bytes. @throws component.invalid */
  skipLeb(): void {
    for (let index = 0; index < 10; index++) {
      if (this.byte() < 0x80) return;
    }
    this.fail("found a number longer than 10 bytes");
  }

  /** A length-prefixed UTF-8 name of at most `maxBytes`. @throws component.invalid */
  name(maxBytes: number): string {
    const length = this.u32();
    if (length > maxBytes) this.fail(`found a name of ${length} bytes, wanted at most ${maxBytes}`);
    const bytes = this.take(length);
    try {
      return decoder.decode(bytes);
    } catch {
      return this.fail("found a name that is not UTF-8");
    }
  }

  /** The next `length` bytes, not copied. @throws component.invalid */
  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) this.fail(`found ${this.#bytes.length - this.#at} bytes, wanted ${length}`);
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  /** Calls `item` as often as the count before a vector says; each item must take at least one byte. @throws component.invalid */
  vector(item: (index: number) => void): void {
    const count = this.u32();
    if (count > this.#bytes.length - this.#at) this.fail(`found a count of ${count}, more than the bytes left`);
    for (let index = 0; index < count; index++) item(index);
  }

  /** Calls `section` for each section after the 8-byte header, with a reader of its content. @throws component.invalid */
  sections(section: (id: number, content: ByteReader, start: number, end: number) => void): void {
    this.take(8);
    while (!this.done) {
      const start = this.#at;
      const id = this.byte();
      const length = this.u32();
      const base = this.#base + this.#at;
      section(id, new ByteReader(this.take(length), base), start, this.#at);
    }
  }

  /** The bytes that are left, not copied. */
  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at);
  }

  /** Where the next byte stands in the whole file. */
  get offset(): number {
    return this.#base + this.#at;
  }

  /** @throws component.invalid always, with the byte's place */
  fail(found: string): never {
    throw new CapsuleError("component.invalid", `Read component: ${found}, at byte ${this.offset}`);
  }

  /** @throws component.unsupported always, with the byte's place */
  unsupported(what: string): never {
    throw new CapsuleError("component.unsupported", `Read component: ${what} is not supported, at byte ${this.offset}`);
  }
}
