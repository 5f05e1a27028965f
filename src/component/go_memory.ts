import { CapsuleError } from "../base/mod.ts";
import { ByteReader } from "./byte_reader.ts";
import type { CoreModule } from "./core_module.ts";
import { appendEntries, encodeSigned, encodeUnsigned, joinBytes } from "./core_writer.ts";
import { writeCaps } from "./memory_cap.ts";

/** The section that Go's own linker writes into every program. */
const GO_SECTION = "go:buildid";
const PAGE_BYTES = 65_536;
/** What the adapter asks for, once: a stack and its state, a page each. */
const ADAPTER_PAGES = 4;
/** The linker's own sum for the memory that a program starts with. */
const LINKER_SLACK_BYTES = 1 << 20;
/** `noptrdata` to `end` of the runtime's `moduledata`: addresses, each not below the one before. */
const ADDRESSES = 11;
/** No address is zero, so that no run of zeros within them, which a program may leave out, is as long. */
const MAX_GAP_BYTES = 16;
/** The most pages that 32-bit addresses reach. */
const MAX_PAGES = 65_536;
/** A memory with 64-bit addresses, in `DeclaredLimits.flags`. */
const WIDE = 4;
const TYPE = 1, FUNCTION = 3, GLOBAL = 6, EXPORT = 7, CODE = 10, DATA = 11;

interface Segment {
  readonly address: number;
  readonly at: number;
  readonly bytes: Uint8Array;
}

/**
 * Gives the preview1 adapter memory of its own in a Go program. Go's runtime takes all memory above its data for its
 * heap, and never looks where the pages are that `memory.grow` gives; so its heap would run over the pages that the
 * adapter grows by. Here its data ends a few pages later, and an exported `cabi_realloc` gives these pages out. Any
 * other module is left as it is. The module must have been validated.
 * @throws component.unsupported for a Go program that another linker laid out
 */
export function separateGoHeap(bytes: Uint8Array, module: CoreModule): Uint8Array {
  const [memory] = module.memories;
  if (memory === undefined || module.exports.includes("cabi_realloc") || !isGoProgram(bytes)) return bytes;
  const { min, max = MAX_PAGES, flags } = memory;
  if ((flags & WIDE) !== 0 || min + ADAPTER_PAGES > Math.min(max, MAX_PAGES)) {
    throw new CapsuleError(
      "component.unsupported",
      `Read component: cannot adapt the Go program: found ${min} pages of memory, wanted room for ${ADAPTER_PAGES} more; build it with Go's own linker`,
    );
  }
  const segments = readSegments(bytes);
  const found = findEnds(segments, min);
  const spots = found.length === 1 ? placesOf(segments, found[0]!.address) : undefined;
  if (spots === undefined) {
    throw new CapsuleError(
      "component.unsupported",
      `Read component: cannot adapt the Go program: found the end of its data ${found.length} times, wanted once; build it with Go 1.24 or later`,
    );
  }
  const end = found[0]!.end;
  const moved = bytes.slice();
  for (const [index, at] of spots.entries()) moved[at] = ((end + ADAPTER_PAGES * PAGE_BYTES) >>> (8 * index)) & 255;
  const limits = { ...memory, min: min + ADAPTER_PAGES, cap: max };
  const grown = writeCaps({ bytes: moved, module, instances: 1 }, { memories: [limits], tables: [] });
  return addRealloc(grown, module.imports.length, Math.ceil(end / PAGE_BYTES) * PAGE_BYTES);
}

function isGoProgram(bytes: Uint8Array): boolean {
  let isFound = false;
  new ByteReader(bytes).sections((id, content) => {
    if (id === 0 && content.peek() === GO_SECTION.length) isFound ||= content.name(GO_SECTION.length) === GO_SECTION;
  });
  return isFound;
}

/** The active data segments with a constant address, as Go's linker writes them; others are left out. */
function readSegments(bytes: Uint8Array): Segment[] {
  const segments: Segment[] = [];
  new ByteReader(bytes).sections((id, content) => {
    if (id !== DATA) return;
    content.vector(() => {
      if (content.u32() !== 0 || content.byte() !== 0x41) content.fail("found another data segment than Go's");
      const address = content.u32();
      if (content.byte() !== 0x0b) content.fail("found another data segment than Go's");
      const length = content.u32();
      segments.push({ address, at: content.offset, bytes: content.take(length) });
    });
  });
  return segments;
}

/**
 * Where `moduledata.end` may stand, and its value: eleven addresses in order, the last as the linker's sum says. The
 * address before may be the same, and is not the one; the one behind is lower.
 */
function findEnds(segments: readonly Segment[], minPages: number): { address: number; end: number }[] {
  const found: { address: number; end: number }[] = [];
  for (const { start, image } of stretchesOf(segments, minPages * PAGE_BYTES)) {
    for (let last = 8 * (ADDRESSES - 1); last + 16 <= image.byteLength; last += 8) {
      const end = image.getUint32(last, true);
      if (Math.floor((end + LINKER_SLACK_BYTES) / PAGE_BYTES) === minPages && isOrdered(image, last)) {
        found.push({ address: start + last, end });
      }
    }
  }
  return found;
}

/**
 * What the segments make of memory, without the long runs of zeros between them: as large as the segments are, whatever
 * addresses they name. Each begins at a multiple of 8; where segments overlap, the later one counts.
 */
function stretchesOf(segments: readonly Segment[], memoryBytes: number): { start: number; image: DataView }[] {
  const inside = segments.filter(({ address, bytes }) => address + bytes.length <= memoryBytes);
  const stretches: { start: number; end: number }[] = [];
  const stretchOf = new Map<Segment, number>();
  for (const segment of inside.toSorted((one, other) => one.address - other.address)) {
    const end = segment.address + segment.bytes.length;
    const last = stretches.at(-1);
    if (last !== undefined && segment.address <= last.end + MAX_GAP_BYTES) last.end = Math.max(last.end, end);
    else stretches.push({ start: Math.floor(segment.address / 8) * 8, end });
    stretchOf.set(segment, stretches.length - 1);
  }
  const images = stretches.map(({ start, end }) => new Uint8Array(end - start + MAX_GAP_BYTES));
  for (const segment of inside) {
    const index = stretchOf.get(segment)!;
    images[index]!.set(segment.bytes, segment.address - stretches[index]!.start);
  }
  return images.map((bytes, index) => ({ start: stretches[index]!.start, image: new DataView(bytes.buffer) }));
}

function isOrdered(image: DataView, last: number): boolean {
  let before = 1;
  for (let at = last - 8 * (ADDRESSES - 1); at <= last; at += 8) {
    if (image.getUint32(at + 4, true) !== 0 || image.getUint32(at, true) < before) return false;
    before = image.getUint32(at, true);
  }
  return image.getUint32(last + 8, true) < before;
}

/** Where the four bytes at an address stand in the file; undefined when a segment leaves one out. */
function placesOf(segments: readonly Segment[], address: number): number[] | undefined {
  const places = [0, 1, 2, 3].map((index) => {
    const segment = segments.find(({ address: from, bytes }) =>
      from <= address + index && address + index < from + bytes.length
    );
    return segment === undefined ? -1 : segment.at + address + index - segment.address;
  });
  return places.includes(-1) ? undefined : places;
}

/** Adds an exported `cabi_realloc` that gives out the pages at `base`, once, and traps when they are gone. */
function addRealloc(bytes: Uint8Array, importedFunctions: number, base: number): Uint8Array {
  const limit = base + ADAPTER_PAGES * PAGE_BYTES;
  const I32 = 0x7f;
  return appendEntries(bytes, (count) => {
    const global = encodeUnsigned(count(GLOBAL));
    const body = Uint8Array.of(
      ...[1, 1, I32], // a local: what is given
      ...[0x23, ...global, 0x22, 4], // it is where the free part begins
      ...[0x20, 3, 0x41, 15, 0x6a, 0x41, 0x70, 0x71, 0x6a, 0x24, ...global], // the size, rounded up to 16, is taken
      ...[0x23, ...global, 0x41, ...encodeSigned(limit), 0x4b, 0x20, 1, 0x72, 0x04, 0x40, 0x00, 0x0b], // none is left
      ...[0x20, 4, 0x0b],
    );
    return new Map<number, Uint8Array>([
      [TYPE, Uint8Array.of(0x60, 4, I32, I32, I32, I32, 1, I32)],
      [FUNCTION, Uint8Array.from(encodeUnsigned(count(TYPE)))],
      [GLOBAL, Uint8Array.of(I32, 1, 0x41, ...encodeSigned(base), 0x0b)],
      [
        EXPORT,
        joinBytes([
          Uint8Array.of(12),
          new TextEncoder().encode("cabi_realloc"),
          Uint8Array.of(0, ...encodeUnsigned(importedFunctions + count(FUNCTION))),
        ]),
      ],
      [CODE, Uint8Array.of(...encodeUnsigned(body.length), ...body)],
    ]);
  });
}
