/** Lines on standard output and standard error. */
import { getStderr } from "wasi:cli/stderr@0.2.12";
import { getStdout } from "wasi:cli/stdout@0.2.12";
import { writeAll } from "./streams.js";
import { encodeUtf8 } from "./text.js";

/** Writes `line` and a newline to standard output. */
export function printLine(line = "") {
  writeAll(getStdout(), encodeUtf8(`${line}\n`));
}

/** Writes `line` and a newline to standard error. */
export function printError(line) {
  writeAll(getStderr(), encodeUtf8(`${line}\n`));
}
