import { getArguments } from "wasi:cli/environment@0.2.12";
import { wasiError } from "../../wasi/errors.js";
import { readChunks, walkFiles, writeText } from "../../wasi/files.js";
import { printError, printLine } from "../../wasi/stdio.js";
import { countBytes, emptyCount } from "./count.js";
import { formatReport, formatTotal } from "./report.js";

const REPORT = "/workdir/report.txt";

/** `word-count [FOLDER]...`: counts every file below the folders and writes a report to the work folder. */
export const run = {
  run() {
    const folders = getArguments().slice(1);
    if (folders.length === 0) fail("no folder named: give its guest path, such as /data");
    const rows = folders.flatMap(countFolder);
    writeReport(formatReport(rows));
    printLine(`${formatTotal(rows)} Report: ${REPORT}`);
  },
};

function countFolder(folder) {
  const rows = [];
  try {
    for (const { path, file } of walkFiles(folder)) {
      const count = emptyCount();
      for (const bytes of readChunks(file)) countBytes(count, bytes);
      rows.push({ path, ...count });
    }
  } catch (error) {
    fail(`cannot read ${folder}: ${wasiError(error)}`);
  }
  return rows;
}

function writeReport(text) {
  try {
    writeText(REPORT, text);
  } catch (error) {
    const code = wasiError(error);
    fail(`cannot write ${REPORT}: ${code.tag ?? code}`);
  }
}

/** Ends the run with exit code 1: a thrown value that is no Error is the `err` of `wasi:cli/run`. */
function fail(message) {
  printError(`word-count: ${message}`);
  throw message;
}
