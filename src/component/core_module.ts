import { ByteReader } from "./byte_reader.ts";
import { MAX_CORE_NAME_BYTES } from "./name_grammar.ts";

/** Looks at each name of a core module; throws to refuse it. */
export interface CoreNameCheck {
  core(name: string): string;
}

/** Declared limits of a memory (in pages of `pageBytes`) or a table (in entries, `pageBytes` 1). */
export interface DeclaredLimits {
  readonly flags: number;
  readonly min: number;
  readonly max?: number;
  readonly pageBytes: number;
  /** Where the limits stand in the module: first byte, and first byte after. */
  readonly start: number;
  readonly end: number;
}

/** What a core module says of itself. Imported memories and tables are another module's and are not listed. */
export interface CoreModule {
  readonly imports: readonly { readonly module: string; readonly name: string }[];
  readonly exports: readonly string[];
  readonly memories: readonly DeclaredLimits[];
  readonly tables: readonly DeclaredLimits[];
  /** Where the sections to rewrite stand: id, first byte (of the id), first byte of the content, first byte after. */
  readonly limitSections: readonly { readonly id: 4 | 5; start: number; content: number; end: number }[];
}

const FUNCTION_TYPE = 0x60;

/**
 * Reads the sections of a core module that matter here and lets `check` see its names. Does not validate: that is
 * `WebAssembly.validate`'s part. Garbage-collected types are refused, for no memory cap counts their objects.
 * @throws component.invalid | component.unsupported | component.too_large
 */
export function readCoreModule(bytes: Uint8Array, base: number, check: CoreNameCheck): CoreModule {
  const module = {
    imports: [] as { module: string; name: string }[],
    exports: [] as string[],
    memories: [] as DeclaredLimits[],
    tables: [] as DeclaredLimits[],
    limitSections: [] as { id: 4 | 5; start: number; content: number; end: number }[],
  };
  new ByteReader(bytes, base).sections((id, content, start, end) => {
    const contentStart = content.offset - base;
    const place = (at: number) => contentStart + at;
    if (id === 1) content.vector(() => skipFunctionType(content));
    else if (id === 2) content.vector(() => void module.imports.push(readImport(content, check)));
    else if (id === 4) content.vector(() => void module.tables.push(readTable(content, place)));
    else if (id === 5) content.vector(() => void module.memories.push(readLimits(content, place, true)));
    else if (id === 7) content.vector(() => void module.exports.push(readExport(content, check)));
    else return;
    if (!content.done) content.fail("found bytes left over in a section of a core module");
    if (id === 4 || id === 5) module.limitSections.push({ id, start, content: contentStart, end });
  });
  return module;
}

function skipFunctionType(reader: ByteReader): void {
  const form = reader.byte();
  if (form !== FUNCTION_TYPE) reader.unsupported("a garbage-collected type, whose memory no limit covers,");
  reader.vector(() => skipValueType(reader));
  reader.vector(() => skipValueType(reader));
}

/** A value or reference type: one byte, or 0x63/0x64 and a heap type. */
function skipValueType(reader: ByteReader): void {
  const first = reader.byte();
  if (first === 0x63 || first === 0x64) reader.skipLeb();
  else if (first < 0x40 || first > 0x7f) reader.unsupported(`value type 0x${first.toString(16)}`);
}

function readImport(reader: ByteReader, check: CoreNameCheck): { module: string; name: string } {
  const found = {
    module: check.core(reader.name(MAX_CORE_NAME_BYTES)),
    name: check.core(reader.name(MAX_CORE_NAME_BYTES)),
  };
  const kind = reader.byte();
  if (kind === 0) reader.u32();
  else if (kind === 1) {
    skipValueType(reader);
    readLimits(reader, () => 0, false);
  } else if (kind === 2) readLimits(reader, () => 0, true);
  else if (kind === 3) {
    skipValueType(reader);
    reader.byte();
  } else if (kind === 4) {
    reader.byte();
    reader.u32();
  } else reader.unsupported(`import kind ${kind}`);
  return found;
}

function readExport(reader: ByteReader, check: CoreNameCheck): string {
  const name = check.core(reader.name(MAX_CORE_NAME_BYTES));
  reader.byte();
  reader.u32();
  return name;
}

function readTable(reader: ByteReader, place: (at: number) => number): DeclaredLimits {
  if (reader.peek() === 0x40) reader.unsupported("a table with an initial expression");
  skipValueType(reader);
  return readLimits(reader, place, false);
}

/** Flags: 1 a maximum follows, 2 shared, 4 64-bit indices, 8 a page size follows (as a power of two). */
function readLimits(reader: ByteReader, place: (at: number) => number, isMemory: boolean): DeclaredLimits {
  const start = place(reader.at);
  const flags = reader.byte();
  if (flags > (isMemory ? 15 : 7)) reader.unsupported(`limits of kind ${flags}`);
  const min = reader.u64();
  const max = flags & 1 ? reader.u64() : undefined;
  let pageBytes = isMemory ? 65536 : 1;
  if (flags & 8) {
    const power = reader.u32();
    if (power > 16) reader.fail(`found a page size of 2^${power} bytes, wanted at most 2^16`);
    pageBytes = 2 ** power;
  }
  return { flags, min, pageBytes, start, end: place(reader.at), ...(max === undefined ? {} : { max }) };
}
