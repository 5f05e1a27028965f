import type { Verdict } from "./table.ts";

interface Row {
  readonly name: string;
  readonly walls: readonly (Verdict | undefined)[];
}

/** A table as Markdown, laid out as `deno fmt` lays it out. */
export function toMarkdown(columns: readonly string[], escapes: readonly Row[]): string {
  const head = ["attempt", ...columns];
  const rows = escapes.map(({ name, walls }) => [name, ...walls.map(toCell)]);
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

function toCell(verdict: Verdict | undefined): string {
  return verdict === undefined ? "-" : `${verdict.holds ? "holds" : "**cannot**"}: ${verdict.why}`;
}
