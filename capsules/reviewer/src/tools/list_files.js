import { walkFiles } from "../../../wasi/files.js";
import { readObject, tooWide, wasiReason } from "../tool.js";

/** More than this is no answer that a model reads. */
const MAX_FILES = 1_000;

/** `list-files {path?}`: every file below a folder of what is to be reviewed, with its size. */
export const tool = {
  describe() {
    return {
      name: "list-files",
      description: "Lists the files below a folder, with their sizes in bytes.",
      inputSchema: JSON.stringify({
        type: "object",
        properties: { path: { type: "string", description: "A folder; default is all that is to be reviewed: /src" } },
        additionalProperties: false,
      }),
      mutates: false,
    };
  },

  invoke(input) {
    const { path = "/src" } = readObject(input);
    const files = [];
    try {
      for (const { path: found, file } of walkFiles(path)) {
        if (files.length === MAX_FILES) throw tooWide(MAX_FILES, path);
        files.push({ path: found, bytes: Number(file.stat().size) });
      }
    } catch (thrown) {
      throw wasiReason(thrown, path);
    }
    return JSON.stringify(files);
  },
};
