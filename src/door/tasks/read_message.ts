import type { Message, Part } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError, RequestMalformedError } from "@a2a-js/sdk/errors";
import type { InputFile } from "../work.ts";

/** What a message says, taken out of its parts. */
export interface MessageContent {
  readonly text: string;
  readonly files: readonly InputFile[];
}

/** What of a message may be taken. */
export interface ReadMessageOptions {
  /** Media types; with `*` and `image/*` for many. */
  readonly inputModes: readonly string[];
  /** Files must be texts in UTF-8, and may have any type then: so many bytes of them together at most. */
  readonly maxTextBytes?: number;
}

const encoder = new TextEncoder();

/**
 * The text and the files of a message.
 *
 * @throws {ContentTypeNotSupportedError} at a part of another media type than the card names, one that is elsewhere, or one
 * that is no text where only texts are taken
 * @throws {RequestMalformedError} where texts are too much together
 */
export function readMessage(
  { parts }: Pick<Message, "parts">,
  { inputModes, maxTextBytes }: ReadMessageOptions,
): MessageContent {
  const texts: string[] = [];
  const files: InputFile[] = [];
  for (const [i, part] of parts.entries()) {
    const mediaType = typeOf(part);
    const { content, filename: name } = part;
    const isPlain = content?.$case === "text" && name === "";
    if (maxTextBytes === undefined && !inputModes.some((mode) => isOfMode(mediaType, mode))) {
      throw new ContentTypeNotSupportedError(
        `Read a message: found message.parts[${i}] of media type ${JSON.stringify(mediaType)}, ` +
          `wanted ${inputModes.join(", ")}`,
      );
    }
    if (isPlain) texts.push(content.value);
    else files.push({ name, mediaType, bytes: bytesOf(part, i) });
    if (!isPlain && maxTextBytes !== undefined) checkText(files.at(-1)!, i);
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  if (bytes > (maxTextBytes ?? Infinity)) {
    throw new RequestMalformedError(
      `Read a message: found message.parts with ${bytes} bytes of files, wanted at most ${maxTextBytes}`,
    );
  }
  return { text: texts.join("\n"), files };
}

/** Told by its bytes: many a client gives no type, or a wrong one. */
function checkText({ name, mediaType, bytes }: InputFile, i: number): void {
  if (!bytes.includes(0) && isUtf8(bytes)) return;
  const shown = name === "" ? "" : `${JSON.stringify(name.slice(0, 100))}, `;
  throw new ContentTypeNotSupportedError(
    `Read a message: found message.parts[${i}] that is no text (${shown}${JSON.stringify(mediaType)}), wanted UTF-8`,
  );
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function typeOf({ mediaType, content }: Part): string {
  if (mediaType !== "") return mediaType.split(";", 1)[0]!.trim().toLowerCase();
  return content?.$case === "text"
    ? "text/plain"
    : content?.$case === "data"
    ? "application/json"
    : "application/octet-stream";
}

function isOfMode(mediaType: string, mode: string): boolean {
  if (mode === "*" || mode === "*/*" || mode === mediaType) return true;
  return mode.endsWith("/*") && mediaType.startsWith(mode.slice(0, -1));
}

/** The door fetches nothing: what is elsewhere is not taken. */
function bytesOf({ content }: Part, i: number): Uint8Array {
  switch (content?.$case) {
    case "text":
      return encoder.encode(content.value);
    case "raw":
      return new Uint8Array(content.value);
    case "data":
      return encoder.encode(JSON.stringify(content.value));
    default:
      throw new ContentTypeNotSupportedError(
        `Read a message: found message.parts[${i}] that is a URL, wanted its content`,
      );
  }
}
