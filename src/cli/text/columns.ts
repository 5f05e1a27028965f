/** Two columns of a terminal: what East Asian scripts and pictures take. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** None: what stands on the letter before. */
const MARK = /\p{M}/u;

/** How many columns of a terminal a text takes, whatever it is written in. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += MARK.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** Each cell as wide as the widest of its column, the last of a row as it is. */
export function alignColumns(rows: readonly (readonly string[])[]): string[][] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => textWidth(row[column]!))));
  return rows.map((row) =>
    row.map((cell, column) => column === row.length - 1 ? cell : cell + " ".repeat(widths[column]! - textWidth(cell)))
  );
}
