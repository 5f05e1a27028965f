import { CapsuleError, errorCodeOf } from "../../base/mod.ts";
import { Fields } from "../fields.ts";

/** A message of a type that this side does not know: ignored, and counted by its tag. */
export interface UnknownMessage {
  readonly type: "unknown";
  /** One word of at most 64 characters: fit for a log. */
  readonly tag: string;
}

/** The tag of a message. @throws `protocol.bad_field` when it is not a word */
export function tagOf(fields: Fields): string {
  const tag = fields.string("type", { max: 64 });
  if (!/^[\w.-]+$/.test(tag)) fields.fail("type", "a word");
  return tag;
}

/** `decode` of the message's fields; a fault also names where in the stream the message stands, when that is known. */
export function decodeAt<T>(message: unknown, at: number | undefined, decode: (fields: Fields) => T): T {
  try {
    return decode(new Fields(message, "message"));
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === undefined || at === undefined) throw error;
    throw new CapsuleError(code, `${(error as Error).message}, payload at byte ${at}`);
  }
}
