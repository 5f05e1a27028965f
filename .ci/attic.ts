/**
 * The attic of an executable: files that lie between the runtime and the program that `deno compile` appends to it. Every
 * process reads the whole of that program when it starts, and copies it once more; of the attic it reads what it needs
 * (`attic_reader.ts`).
 *
 *     runtime | files | SHA-256 of the files | length of the attic, 8 bytes | what `deno compile` appended
 *
 * @module
 */
import { createHash } from "node:crypto";
import { type AtticIndex, type Place, TAIL_BYTES } from "./attic_reader.ts";
import { cutBase } from "./base_binary.ts";

/** An attic to be put into an executable whose program has its index, as `BOLL_ATTIC`. */
export interface PackedAttic {
  readonly bytes: Uint8Array;
  readonly index: AtticIndex;
}

/** Path → content; the same files in the same order give the same attic. */
export function packAttic(files: ReadonlyMap<string, Uint8Array>): PackedAttic {
  const places: Record<string, Place> = {};
  let at = 0;
  for (const [path, { length }] of files) places[path] = [(at += length) - length, length];
  const bytes = new Uint8Array(at + TAIL_BYTES);
  for (const [path, content] of files) bytes.set(content, places[path]![0]);
  const digest = createHash("sha256").update(bytes.subarray(0, at)).digest();
  bytes.set(digest, at);
  new DataView(bytes.buffer).setBigUint64(bytes.length - 8, BigInt(bytes.length), true);
  return { bytes, index: { digest: digest.toString("hex"), files: places } };
}

/** The parts of `executable` with the attic in its place. */
export function insertAttic(executable: Uint8Array, attic: Uint8Array): Uint8Array[] {
  const base = cutBase(executable);
  return [base, attic, executable.subarray(base.length)];
}

/** The runtime out of an executable that has an attic. @throws Error when it has none, or one that is torn. */
export function cutBelowAttic(executable: Uint8Array): Uint8Array {
  const withAttic = cutBase(executable);
  const torn = () => new Error("Cut the base: found no attic behind it, or one that is torn");
  if (withAttic.length < TAIL_BYTES) throw torn();
  const view = new DataView(withAttic.buffer, withAttic.byteOffset, withAttic.byteLength);
  const length = Number(view.getBigUint64(withAttic.length - 8, true));
  const start = withAttic.length - length;
  if (start < 0 || length < TAIL_BYTES) throw torn();
  const digest = createHash("sha256").update(withAttic.subarray(start, -TAIL_BYTES)).digest("hex");
  if (digest !== withAttic.subarray(-TAIL_BYTES, -8).toHex()) throw torn();
  return withAttic.subarray(0, start);
}
