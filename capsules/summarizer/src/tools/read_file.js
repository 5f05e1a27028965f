import { openPath, readChunks } from "../../../wasi/files.js";
import { decodeUtf8 } from "../../../wasi/text.js";

/** A longer file is cut, bytes. */
const MAX_BYTES = 64 * 1024;

/** `read-file {path}`: the beginning of one file. */
export const tool = {
  describe() {
    return {
      name: "read-file",
      description: `Reads the first ${MAX_BYTES / 1024} KiB of a text file.`,
      inputSchema: JSON.stringify({
        type: "object",
        properties: { path: { type: "string", description: "Such as /src/main.js" } },
        required: ["path"],
        additionalProperties: false,
      }),
      mutates: false,
    };
  },

  invoke(input) {
    const { path } = JSON.parse(input);
    if (typeof path !== "string") throw "path is missing";
    let file;
    try {
      file = openPath(path, {}, { read: true });
    } catch (thrown) {
      throw `Read ${path}: ${String(thrown?.payload ?? thrown)}`;
    }
    const bytes = [];
    for (const chunk of readChunks(file)) {
      bytes.push(...chunk.subarray(0, MAX_BYTES - bytes.length));
      if (bytes.length === MAX_BYTES) break;
    }
    return decodeUtf8(bytes);
  },
};
