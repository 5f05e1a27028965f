import { openPath, readChunks } from "../../../wasi/files.js";
import { decodeUtf8 } from "../../../wasi/text.js";
import { readObject, wasiReason } from "../tool.js";

/** What one answer holds at most, bytes. */
const MAX_BYTES = 64 * 1024;

/** `read-file {path, offset?}`: the text of one file, a part of it when it is long. */
export const tool = {
  describe() {
    return {
      name: "read-file",
      description: `Reads a text file, ${MAX_BYTES / 1024} KiB at most from offset on.`,
      inputSchema: JSON.stringify({
        type: "object",
        properties: {
          path: { type: "string", description: "As list-files names it, such as /src/main.js" },
          offset: { type: "integer", minimum: 0, description: "Where to begin, bytes; default 0" },
        },
        required: ["path"],
        additionalProperties: false,
      }),
      mutates: false,
    };
  },

  invoke(input) {
    const { path, offset = 0 } = readObject(input);
    if (typeof path !== "string") throw "path is missing";
    try {
      return readPart(path, offset);
    } catch (thrown) {
      throw wasiReason(thrown, path);
    }
  },
};

function readPart(path, offset) {
  const file = openPath(path, {}, { read: true });
  const bytes = [];
  let at = 0;
  try {
    for (const chunk of readChunks(file)) {
      for (const byte of chunk) if (at++ >= offset && bytes.length < MAX_BYTES) bytes.push(byte);
      if (bytes.length === MAX_BYTES) break;
    }
    const rest = Number(file.stat().size) - offset - bytes.length;
    return decodeUtf8(bytes) + (rest > 0 ? `\n[${rest} bytes more: read on at offset ${offset + bytes.length}]` : "");
  } finally {
    file[Symbol.dispose]();
  }
}
