import { ByteReader } from "./byte_reader.ts";
import { readCoreModule } from "./core_module.ts";
import { MAX_CORE_NAME_BYTES, MAX_NAME_BYTES, type NameCheck } from "./name_grammar.ts";

/** How deep components and types may nest. */
const MAX_DEPTH = 32;

/** What the outermost component imports and exports, as written. */
export interface OuterNames {
  readonly imports: readonly string[];
  readonly exports: readonly string[];
}

/**
 * Walks a component's binary (component-model, `Binary.md`) and checks every name that could reach generated code:
 * of imports, exports, aliases, instances, types and core modules, nested ones too. What the walk does not know is
 * refused, so that no name is missed.
 * @throws component.invalid | component.unsupported | component.too_large
 */
export function readComponentNames(bytes: Uint8Array, check: NameCheck): OuterNames {
  return new NameWalk(check).component(new ByteReader(bytes), 0);
}

/** One walk; each method reads one production of the binary grammar. */
class NameWalk {
  readonly #check: NameCheck;

  constructor(check: NameCheck) {
    this.#check = check;
  }

  component(reader: ByteReader, depth: number): OuterNames {
    if (depth > MAX_DEPTH) reader.unsupported(`nesting deeper than ${MAX_DEPTH}`);
    const imports: string[] = [];
    const exports: string[] = [];
    reader.sections((id, content) => {
      const base = content.offset;
      if (id === 1) return void readCoreModule(content.rest(), base, this.#check);
      if (id === 4) return void this.component(content, depth + 1);
      // Custom sections, canonical functions and the start function hold no names that code is made from.
      if (id === 0 || id === 8 || id === 9) return;
      this.#section(id, content, depth, { imports, exports });
      if (!content.done) content.fail("found bytes left over in a section");
    });
    return { imports, exports };
  }

  #section(id: number, content: ByteReader, depth: number, names: { imports: string[]; exports: string[] }): void {
    switch (id) {
      case 2:
        return content.vector(() => this.#coreInstance(content));
      case 3:
        return content.unsupported("a core type section");
      case 5:
        return content.vector(() => this.#instance(content));
      case 6:
        return content.vector(() => this.#alias(content));
      case 7:
        return content.vector(() => this.#definedType(content, depth));
      case 10:
        return content.vector(() => void names.imports.push(this.#import(content)));
      case 11:
        return content.vector(() => void names.exports.push(this.#export(content)));
      default:
        content.unsupported(`section ${id}`);
    }
  }

  #coreInstance(reader: ByteReader): void {
    const kind = reader.byte();
    if (kind > 1) reader.unsupported(`core instance kind ${kind}`);
    if (kind === 0) reader.u32();
    reader.vector(() => {
      this.#coreName(reader);
      reader.byte();
      reader.u32();
    });
  }

  #instance(reader: ByteReader): void {
    const kind = reader.byte();
    if (kind > 1) reader.unsupported(`instance kind ${kind}`);
    if (kind === 0) reader.u32();
    reader.vector(() => {
      if (kind === 0) this.#check.external(reader.name(MAX_NAME_BYTES));
      else this.#externalName(reader);
      this.#sort(reader);
      reader.u32();
    });
  }

  #alias(reader: ByteReader): void {
    this.#sort(reader);
    const target = reader.byte();
    reader.u32();
    if (target === 0) this.#check.external(reader.name(MAX_NAME_BYTES));
    else if (target === 1) this.#coreName(reader);
    else if (target === 2) reader.u32();
    else reader.unsupported(`alias target ${target}`);
  }

  #import(reader: ByteReader): string {
    const name = this.#externalName(reader);
    this.#externalType(reader);
    return name;
  }

  #export(reader: ByteReader): string {
    const name = this.#externalName(reader);
    this.#sort(reader);
    reader.u32();
    if (this.#flag(reader)) this.#externalType(reader);
    return name;
  }

  #externalName(reader: ByteReader): string {
    const form = reader.byte();
    if (form > 1) reader.unsupported(`name form ${form}`);
    return this.#check.external(reader.name(MAX_NAME_BYTES));
  }

  #coreName(reader: ByteReader): string {
    return this.#check.core(reader.name(MAX_CORE_NAME_BYTES));
  }

  #sort(reader: ByteReader): void {
    if (reader.byte() === 0) reader.byte();
  }

  #externalType(reader: ByteReader): void {
    const kind = reader.byte();
    if (kind === 0) {
      if (reader.byte() !== 0x11) reader.fail("found a core type that is not a module");
      reader.u32();
    } else if (kind === 1 || kind === 4 || kind === 5) {
      reader.u32();
    } else if (kind === 3) {
      if (reader.byte() === 0) reader.u32();
    } else {
      reader.unsupported(`type of an import or export ${kind}`);
    }
  }

  #definedType(reader: ByteReader, depth: number): void {
    if (depth > MAX_DEPTH) reader.unsupported(`nesting deeper than ${MAX_DEPTH}`);
    const form = reader.byte();
    switch (form) {
      case 0x40:
        return this.#functionType(reader);
      case 0x41:
      case 0x42:
        return reader.vector(() => this.#declaration(reader, form === 0x41, depth + 1));
      case 0x3f:
        if (reader.byte() !== 0x7f) reader.unsupported("a resource that is not an i32");
        if (this.#flag(reader)) reader.u32();
        return;
      case 0x43:
        return reader.unsupported("an async function type (WASI 0.3)");
      default:
        return this.#valueTypeDefinition(form, reader);
    }
  }

  #functionType(reader: ByteReader): void {
    reader.vector(() => this.#labelled(reader));
    const form = reader.byte();
    if (form === 0) return reader.skipLeb();
    if (form !== 1) reader.unsupported(`result list ${form}`);
    reader.vector(() => this.#labelled(reader));
  }

  #declaration(reader: ByteReader, inComponent: boolean, depth: number): void {
    const kind = reader.byte();
    if (kind === 1) return this.#definedType(reader, depth);
    if (kind === 2) return this.#alias(reader);
    if (kind === 4 || (kind === 3 && inComponent)) return void this.#import(reader);
    reader.unsupported(`declaration ${kind} in a type`);
  }

  #valueTypeDefinition(form: number, reader: ByteReader): void {
    switch (form) {
      case 0x72:
        return reader.vector(() => this.#labelled(reader));
      case 0x71:
        return reader.vector(() => this.#variantCase(reader));
      case 0x70:
      case 0x6b:
        return reader.skipLeb();
      case 0x67:
        reader.skipLeb();
        return void reader.u32();
      case 0x6f:
        return reader.vector(() => reader.skipLeb());
      case 0x6e:
      case 0x6d:
        return reader.vector(() => void this.#label(reader));
      case 0x6a:
        this.#optionalValueType(reader);
        return this.#optionalValueType(reader);
      case 0x69:
      case 0x68:
        return void reader.u32();
      case 0x66:
      case 0x65:
      case 0x64:
        return reader.unsupported(`a ${["error context", "future", "stream"][form - 0x64]} (WASI 0.3)`);
      default:
        if (form < 0x73 || form > 0x7f) reader.unsupported(`type form 0x${form.toString(16)}`);
    }
  }

  #variantCase(reader: ByteReader): void {
    this.#label(reader);
    this.#optionalValueType(reader);
    if (this.#flag(reader)) reader.u32();
  }

  #labelled(reader: ByteReader): void {
    this.#label(reader);
    reader.skipLeb();
  }

  #label(reader: ByteReader): string {
    return this.#check.label(reader.name(MAX_NAME_BYTES));
  }

  #optionalValueType(reader: ByteReader): void {
    if (this.#flag(reader)) reader.skipLeb();
  }

  #flag(reader: ByteReader): boolean {
    const byte = reader.byte();
    if (byte > 1) reader.unsupported(`optional part ${byte}`);
    return byte === 1;
  }
}
