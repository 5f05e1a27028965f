import { getArguments } from "wasi:cli/environment@0.2.12";
import { wasiError } from "../../wasi/errors.js";
import { openPath, readChunks } from "../../wasi/files.js";
import { requestHead } from "../../wasi/http.js";
import { printError, printLine } from "../../wasi/stdio.js";
import { decodeUtf8 } from "../../wasi/text.js";

/** `link-check LIST`: one line per link; ends with 1 when a link that may be asked is broken. */
export const run = {
  run() {
    const [, list] = getArguments();
    const links = readLines(list).filter((line) => /^https?:\/\//.test(line));
    const results = links.map(check);
    for (const { link, word } of results) printLine(`${word.padEnd(10)} ${link}`);
    const counts = ["ok", "broken", "refused"].map((kind) =>
      `${results.filter((r) => r.kind === kind).length} ${kind}`
    );
    printLine(counts.join(", "));
    if (results.some(({ kind }) => kind === "broken")) throw "broken links";
  },
};

function check(link) {
  try {
    const status = requestHead(link);
    return { link, kind: status < 400 ? "ok" : "broken", word: String(status) };
  } catch (thrown) {
    const error = wasiError(thrown);
    if (error.tag === "HTTP-request-denied") return { link, kind: "refused", word: "refused" };
    return { link, kind: "broken", word: error.tag ?? String(error) };
  }
}

function readLines(path) {
  try {
    const file = openPath(path, {}, { read: true });
    const text = [...readChunks(file)].map(decodeUtf8).join("");
    file[Symbol.dispose]();
    return text.split("\n").map((line) => line.trim());
  } catch (thrown) {
    printError(`link-check: cannot read ${path}: ${wasiError(thrown)}`);
    throw "no list";
  }
}
