/** Wrongs done to the sections of components and modules, nested ones too: what is inside stays well framed. */
import fc from "fast-check";
import { COMPONENT_HEAD, joinBytes, leb, nameBytes, section } from "../../src/component/component_fixture.ts";
import { type ByteMutation, byteMutation, mutateBytes } from "./byte_mutation.ts";

/** A component or module as its head and its sections. */
interface Binary {
  readonly head: Uint8Array;
  readonly sections: Section[];
}

interface Section {
  id: number;
  content: Uint8Array | Binary;
  /** Declares this length in place of its own. */
  length?: number[];
}

/** Where a section stands, so that it can be taken away. */
interface Spot {
  readonly owner: Binary;
  readonly index: number;
}

/** One wrong; `at` is folded into the number of sections, `from` into that of the donor's. */
export interface SectionMutation {
  readonly kind: "bytes" | "drop" | "repeat" | "swap" | "splice" | "wrap" | "id" | "length" | "custom" | "empty";
  readonly at: number;
  readonly from: number;
  readonly name: string;
  readonly changes: readonly ByteMutation[];
}

/** What a careless generator would make code of, or somebody else's property. */
export const HOSTILE_NAMES: readonly string[] = [
  ...["'", '"', "`", "\\", "a\nb", "*/", "//", "${globalThis.hit=1}", "');globalThis.hit=1;('", "__proto__", "\0"],
  ...["constructor", "then", "to-string", "[method]r.to-string", "a:b/c@1.0.0", "wasi:cli/run@0.2.3", "import", "eval"],
  ...["\u2028", "\x1b[2J", "memory", "cabi_realloc", "_start", "go:buildid", "name", "a".repeat(300)],
];

/** One wrong to a component or module. */
export const sectionMutation: fc.Arbitrary<SectionMutation> = fc.record({
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant("bytes" as const) },
    {
      weight: 5,
      arbitrary: fc.constantFrom("drop", "repeat", "swap", "splice", "wrap", "id", "length", "custom", "empty"),
    },
  ),
  at: fc.nat(0x7fff_ffff),
  from: fc.nat(0x7fff_ffff),
  name: fc.constantFrom(...HOSTILE_NAMES),
  changes: fc.array(byteMutation(HOSTILE_NAMES.map(nameBytes)), { minLength: 1, maxLength: 3 }),
});

/** The binary with all wrongs done; sections are spliced in from `donor`. */
export function mutateSections(
  bytes: Uint8Array,
  mutations: readonly SectionMutation[],
  donor: Uint8Array,
): Uint8Array {
  return mutations.reduce((now, mutation) => mutateOnce(now, mutation, donor), bytes);
}

function mutateOnce(bytes: Uint8Array, mutation: SectionMutation, donor: Uint8Array): Uint8Array {
  const { kind, at, from, name, changes } = mutation;
  const binary = parse(bytes);
  const spots = binary === undefined ? [] : spotsOf(binary);
  if (binary === undefined || spots.length === 0) return mutateBytes(bytes, changes);
  const { owner, index } = spots[at % spots.length]!;
  const { sections } = owner;
  const found = sections[index]!;
  switch (kind) {
    case "bytes":
      found.content = mutateBytes(encode(found.content), changes);
      break;
    case "drop":
      sections.splice(index, 1);
      break;
    case "repeat":
      sections.splice(from % (sections.length + 1), 0, found);
      break;
    case "swap": {
      const other = from % sections.length;
      [sections[index], sections[other]] = [sections[other]!, found];
      break;
    }
    case "splice": {
      const given = spotsOf(parse(donor)!);
      const spot = given[from % given.length];
      sections.splice(index, at & 1, spot?.owner.sections[spot.index] ?? found);
      break;
    }
    case "wrap":
      sections.splice(index, 0, nest(binary, 1 + (from % 4) * 12));
      break;
    case "id":
      found.id = from % 16;
      break;
    case "length":
      found.length = [...changes[0]!.bytes];
      break;
    case "custom":
      sections.splice(index, 0, { id: 0, content: joinBytes([nameBytes(name), changes[0]!.bytes]) });
      break;
    case "empty":
      found.content = new Uint8Array(from % 2);
      break;
  }
  return encode(binary);
}

/** The component as a section of one of its own likes, so many deep. */
function nest(binary: Binary, depth: number): Section {
  let content = encode(binary);
  for (let level = 1; level < depth; level++) content = joinBytes([COMPONENT_HEAD, section(4, content)]);
  return { id: 4, content };
}

/** Every section in every component and module, outer ones first. */
function spotsOf(binary: Binary): Spot[] {
  return binary.sections.flatMap((found, index) => [
    { owner: binary, index },
    ...(found.content instanceof Uint8Array ? [] : spotsOf(found.content)),
  ]);
}

/** Every core module inside a component, or the module itself. */
export function coreModulesOf(bytes: Uint8Array): Uint8Array[] {
  if (bytes[4] === 1) return [bytes];
  const binary = parse(bytes);
  return (binary?.sections ?? []).flatMap(({ id, content }) =>
    id === 1 || id === 4 ? coreModulesOf(encode(content)) : []
  );
}

/** The sections of a binary, each as its id and its content; undefined for what is not framed as one. */
export function sectionsOf(bytes: Uint8Array): { readonly id: number; readonly content: Uint8Array }[] | undefined {
  return parse(bytes)?.sections.map(({ id, content }) => ({ id, content: encode(content) }));
}

function parse(bytes: Uint8Array, depth = 0): Binary | undefined {
  if (bytes.length < 8 || depth > 40) return undefined;
  const isComponent = bytes[4] !== 1;
  const sections: Section[] = [];
  for (let at = 8; at < bytes.length;) {
    const id = bytes[at++]!;
    let [length, shift] = [0, 0];
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 28) return undefined;
      length += (byte & 127) * 2 ** shift;
      shift += 7;
      if (byte < 128) break;
    }
    if (at + length > bytes.length) return undefined;
    const content = bytes.subarray(at, at + length);
    const inner = isComponent && (id === 1 || id === 4) ? parse(content, depth + 1) : undefined;
    sections.push({ id, content: inner ?? content });
    at += length;
  }
  return { head: bytes.subarray(0, 8), sections };
}

function encode(content: Uint8Array | Binary): Uint8Array {
  if (content instanceof Uint8Array) return content;
  const { head, sections } = content;
  return joinBytes([
    head,
    ...sections.flatMap(({ id, content, length }) => {
      const bytes = encode(content);
      return [Uint8Array.of(id & 255, ...(length ?? leb(bytes.length))), bytes];
    }),
  ]);
}
