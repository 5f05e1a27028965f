/**
 * Goes into the executable: reads what lies in its attic (`attic.ts`), a file or a part of one at a time.
 * @module
 */

/** What the program knows of the attic of its executable. */
export interface AtticIndex {
  /** SHA-256 of the files in it, hex. */
  readonly digest: string;
  /** Path → where it lies: offset from the attic's start, and length, bytes. */
  readonly files: Readonly<Record<string, Place>>;
}

/** Offset and length, bytes. */
export type Place = readonly [number, number];

/** Behind the files stand their digest and the length of it all, little-endian. */
export const TAIL_BYTES = 32 + 8;

/** The last bytes of an executable say how many `deno compile` has appended. */
const LENGTH_BYTES = 8;

/** An open attic. Its descriptor stays open: an executable that is replaced meanwhile changes nothing here. */
export class Attic {
  readonly #file: Deno.FsFile;
  readonly #start: number;
  readonly #files: AtticIndex["files"];

  private constructor(file: Deno.FsFile, start: number, files: AtticIndex["files"]) {
    this.#file = file;
    this.#start = start;
    this.#files = files;
  }

  /** @throws Error when `program` is not the executable that the index is of. */
  static open(program: string, { digest, files }: AtticIndex): Attic {
    const file = Deno.openSync(program);
    const size = file.seekSync(0, Deno.SeekMode.End);
    const end = size - readLength(readAt(file, size - LENGTH_BYTES, LENGTH_BYTES), 0);
    const tail = readAt(file, end - TAIL_BYTES, TAIL_BYTES);
    if (tail.subarray(0, -LENGTH_BYTES).toHex() === digest) {
      return new Attic(file, end - readLength(tail, TAIL_BYTES - LENGTH_BYTES), files);
    }
    file.close();
    throw new Error(`Start from ${program}: found another executable there than the one that runs; start it again`);
  }

  /** Bytes of a file, all of it or `[offset, length]` in it. @throws Deno.errors.NotFound when there is no such file */
  read(path: string, part?: Place): Uint8Array<ArrayBuffer> {
    const place = Object.hasOwn(this.#files, path) ? this.#files[path] : undefined;
    if (place === undefined) throw new Deno.errors.NotFound(`Read ${path}: it is not in the executable`);
    const [offset, length] = part ?? [0, place[1]];
    return readAt(this.#file, this.#start + place[0] + offset, length);
  }
}

function readLength(bytes: Uint8Array<ArrayBuffer>, at: number): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(at, true));
}

function readAt(file: Deno.FsFile, at: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  file.seekSync(at, Deno.SeekMode.Start);
  for (let done = 0; done < length;) {
    const count = file.readSync(bytes.subarray(done));
    if (count === null) throw new Error(`Read the executable: it ended ${length - done} bytes too early`);
    done += count;
  }
  return bytes;
}
