/** Standard input. */
import { getStdin } from "wasi:cli/stdin@0.2.12";
import { wasiError } from "./errors.js";
import { decodeUtf8 } from "./text.js";

const CHUNK_BYTES = 65_536;

/** All of standard input as text; waits for its end. */
export function readInput() {
  const stream = getStdin();
  const bytes = [];
  try {
    for (;;) stream.blockingRead(CHUNK_BYTES).forEach((byte) => bytes.push(byte));
  } catch (thrown) {
    if (wasiError(thrown).tag !== "closed") throw thrown;
  }
  return decodeUtf8(bytes);
}
