import { delegate } from "boll:capsule/host@0.1.0";
import { getArguments } from "wasi:cli/environment@0.2.12";
import { wasiError } from "../../wasi/errors.js";
import { readInput } from "../../wasi/stdin.js";
import { printError, printLine } from "../../wasi/stdio.js";

/** `relay FOLDER [WORD]...`: hands the words, or else what is on standard input, to `word-count`, with that folder alone. */
export const run = {
  run() {
    const [, folder, ...words] = getArguments();
    if (folder === undefined) fail("no folder named: give its guest path, such as /docs");
    const child = start(folder, words.length > 0 ? words.join(" ") : readInput());
    child.subscribe().block();
    printLine(child.outcome());
  },
};

/** `word-count` sees the folder as its `/data`, and nothing else of what this capsule has. */
function start(folder, task) {
  try {
    return delegate({ capsule: "word-count", task, mounts: [{ child: "/data", parent: folder }] });
  } catch (thrown) {
    const { tag, val } = wasiError(thrown);
    return fail(`word-count was not started: ${tag}: ${val}`);
  }
}

/** Ends the run with exit code 1: a thrown value that is no Error is the `err` of `wasi:cli/run`. */
function fail(message) {
  printError(`relay: ${message}`);
  throw message;
}
