import type { Message, Part } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import type { InputFile } from "../work.ts";

/** What a message says, taken out of its parts. */
export interface MessageContent {
  readonly text: string;
  readonly files: readonly InputFile[];
}

const encoder = new TextEncoder();

/**
 * The text and the files of a message.
 *
 * @throws {ContentTypeNotSupportedError} at a part of another media type than the card names, or one that is elsewhere
 */
export function readMessage({ parts }: Pick<Message, "parts">, inputModes: readonly string[]): MessageContent {
  const texts: string[] = [];
  const files: InputFile[] = [];
  for (const part of parts) {
    const mediaType = typeOf(part);
    if (!inputModes.some((mode) => isOfMode(mediaType, mode))) {
      throw new ContentTypeNotSupportedError(
        `Read a message: found a part of media type ${JSON.stringify(mediaType)}, wanted ${inputModes.join(", ")}`,
      );
    }
    const { content, filename: name } = part;
    if (content?.$case === "text" && name === "") texts.push(content.value);
    else files.push({ name, mediaType, bytes: bytesOf(part) });
  }
  return { text: texts.join("\n"), files };
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
function bytesOf({ content }: Part): Uint8Array {
  switch (content?.$case) {
    case "text":
      return encoder.encode(content.value);
    case "raw":
      return new Uint8Array(content.value);
    case "data":
      return encoder.encode(JSON.stringify(content.value));
    default:
      throw new ContentTypeNotSupportedError("Read a message: found a part that is a URL, wanted its content");
  }
}
