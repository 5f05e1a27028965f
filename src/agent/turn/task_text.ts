import { fence } from "../../base/mod.ts";
import type { InputFile } from "../../door/mod.ts";

/** What files of a message may have together, bytes: what is more is no reading for a model. */
export const MAX_FILES_BYTES = 256 * 1024;

/** What somebody sent. */
export interface SentText {
  readonly text: string;
  /** Whose word it is: not the operator's, and it is fenced. */
  readonly stranger?: string;
  /** Text in UTF-8; with a message that was sent to a door. */
  readonly files?: readonly InputFile[];
}

/** What somebody sent as a model reads it. A file is data, whoever sends it. */
export function taskText({ text, stranger, files = [] }: SentText): string {
  const said = stranger === undefined ? text : fence({ kind: "task", name: stranger }, text);
  return [...(said === "" ? [] : [said]), ...filesText(files)].join("\n\n");
}

/** Each file behind its name and media type, of which nothing is left that could be read as more than that. */
export function filesText(files: readonly InputFile[]): string[] {
  return files.map(({ name, mediaType, bytes }, i) => {
    const type = mediaType.replace(/[^a-z0-9.+/-]/g, "_").slice(0, 100);
    const content = new TextDecoder().decode(bytes);
    const fenced = fence({ kind: "file", name: name === "" ? `part-${i + 1}` : name }, content);
    return `[boll] File ${i + 1} of ${files.length}, ${type}, ${bytes.length} bytes:\n${fenced}`;
  });
}
