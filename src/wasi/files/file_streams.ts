import type { FileHost } from "./file_host.ts";
import { HOSTED } from "../hosted.ts";
import { InputStream, MAX_READ_BYTES } from "../input_stream.ts";
import type { OpenFile } from "./open_file.ts";
import { OutputStream } from "../output_stream.ts";

/** Bytes that check-write gives for a file, always. */
export const FILE_BUDGET_BYTES = MAX_READ_BYTES;

/** `read-via-stream`: the file from `offset` to its end. */
export function readStream(open: OpenFile, host: FileHost, offset: number): InputStream {
  let position = offset;
  open.hold();
  const read = (maxBytes: number) => {
    const buffer = host.scratch(maxBytes);
    const count = open.read(buffer, position);
    if (count === undefined) return undefined;
    position += count;
    return buffer.subarray(0, count);
  };
  return new InputStream(HOSTED, {
    read,
    blockingRead: read,
    ready: () => true,
    wait: () => Promise.resolve(),
    close: () => open.release(),
  });
}

/** `write-via-stream` from `offset`, or `append-via-stream` when there is none. */
export function writeStream(open: OpenFile, offset: number | undefined): OutputStream {
  let position = offset;
  open.hold();
  return new OutputStream(HOSTED, {
    budget: () => FILE_BUDGET_BYTES,
    write(bytes) {
      for (let at = 0; at < bytes.length;) {
        const rest = at === 0 ? bytes : bytes.subarray(at);
        const count = position === undefined ? open.append(rest) : open.write(rest, position);
        if (position !== undefined) position += count;
        at += count;
      }
    },
    close: () => open.release(),
  });
}
