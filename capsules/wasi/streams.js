/** Whole buffers into output streams. */

/** WASI takes at most this many bytes in one blocking write. */
const MAX_BLOCKING_WRITE_BYTES = 4096;

/** Writes every byte of `bytes` to the output stream, waiting as often as it must. */
export function writeAll(stream, bytes) {
  for (let start = 0; start < bytes.length; start += MAX_BLOCKING_WRITE_BYTES) {
    stream.blockingWriteAndFlush(bytes.subarray(start, start + MAX_BLOCKING_WRITE_BYTES));
  }
}
