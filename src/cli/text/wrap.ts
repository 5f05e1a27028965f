/** Where {@link wrapLine} breaks, columns, and what every line but the first begins with. */
export interface WrapOptions {
  readonly width: number;
  readonly indent: string;
}

/** Widest text that is meant to be read, columns. */
export const READING_WIDTH = 100;

/** One plain line broken at spaces into lines of at most `width` columns; a longer word stays whole on its own line. */
export function wrapLine(line: string, { width, indent }: WrapOptions): string[] {
  const lines: string[] = [];
  const margin = /^ */.exec(line)![0];
  let current = margin;
  let isEmpty = true;
  for (const word of line.slice(margin.length).split(" ")) {
    if (!isEmpty && current.length + 1 + word.length > width) {
      lines.push(current);
      [current, isEmpty] = [indent, true];
    }
    current += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, current];
}
