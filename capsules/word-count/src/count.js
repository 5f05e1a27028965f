/** Lines, words and bytes, counted as `wc` counts them. */

const NEWLINE = 10;
const SPACE = 32;

/** A count of nothing. */
export function emptyCount() {
  return { lines: 0, words: 0, bytes: 0, inWord: false };
}

/** Adds `bytes`, the next ones of a file, to `count`. */
export function countBytes(count, bytes) {
  let { lines, words, inWord } = count;
  for (const byte of bytes) {
    if (byte === NEWLINE) lines++;
    const isSpace = byte === SPACE || (byte >= 9 && byte <= 13);
    if (inWord && isSpace) inWord = false;
    else if (!inWord && !isSpace) {
      inWord = true;
      words++;
    }
  }
  Object.assign(count, { lines, words, inWord, bytes: count.bytes + bytes.length });
}
