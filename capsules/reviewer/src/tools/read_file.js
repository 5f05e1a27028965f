import { openPath } from "../../../wasi/files.js";
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
    if (!Number.isSafeInteger(offset) || offset < 0) throw "offset is no whole number from 0 on";
    try {
      return readPart(path, offset);
    } catch (thrown) {
      throw wasiReason(thrown, path);
    }
  },
};

function readPart(path, offset) {
  const file = openPath(path, {}, { read: true });
  try {
    const size = Number(file.stat().size);
    const bytes = readBytes(file, offset);
    const isCut = offset + bytes.length < size;
    const part = isCut ? wholeCharacters(bytes) : bytes;
    const next = offset + part.length;
    return decodeUtf8(part) + (isCut ? `\n[${size - next} bytes more: read on at offset ${next}]` : "");
  } finally {
    file[Symbol.dispose]();
  }
}

function readBytes(file, offset) {
  const bytes = [];
  while (bytes.length < MAX_BYTES) {
    const [piece, isAtEnd] = file.read(MAX_BYTES - bytes.length, offset + bytes.length);
    piece.forEach((byte) => bytes.push(byte));
    if (isAtEnd || piece.length === 0) break;
  }
  return bytes;
}

/** The bytes without a character that is cut at their end. */
function wholeCharacters(bytes) {
  let lead = bytes.length - 1;
  while (lead > 0 && (bytes[lead] & 0xc0) === 0x80) lead--;
  const length = bytes[lead] >= 0xf0 ? 4 : bytes[lead] >= 0xe0 ? 3 : bytes[lead] >= 0xc0 ? 2 : 1;
  return lead > 0 && lead + length > bytes.length ? bytes.slice(0, lead) : bytes;
}
