/** The report: one aligned line per file, and their total. */

const COLUMNS = ["lines", "words", "bytes"];

/** The whole report as text; the numbers are right-aligned. */
export function formatReport(rows) {
  const total = sumRows(rows);
  const widths = COLUMNS.map((column) => Math.max(column.length, String(total[column]).length));
  const formatLine = (cells, path) =>
    cells.map((cell, at) => String(cell).padStart(widths[at])).join("  ") + `  ${path}`;
  const formatRow = (row) => formatLine(COLUMNS.map((column) => row[column]), row.path);
  return [formatLine(COLUMNS, "file"), ...rows.map(formatRow), formatRow(total)].join("\n") + "\n";
}

/** The total as one sentence. */
export function formatTotal(rows) {
  const { lines, words, bytes } = sumRows(rows);
  return `${rows.length} ${rows.length === 1 ? "file" : "files"}: ${lines} lines, ${words} words, ${bytes} bytes.`;
}

function sumRows(rows) {
  const sum = (column) => rows.reduce((total, row) => total + row[column], 0);
  return { path: "total", lines: sum("lines"), words: sum("words"), bytes: sum("bytes") };
}
