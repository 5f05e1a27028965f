import { type Escape, type Verdict, WALL_NAMES } from "./table.ts";

/** The table as Markdown, laid out as `deno fmt` lays it out. */
export function toMarkdown(escapes: readonly Escape[]): string {
  const head = ["attempt", ...WALL_NAMES];
  const rows = escapes.map(({ name, walls }) => [name, ...walls.map(toCell)]);
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

function toCell({ holds, why }: Verdict): string {
  return `${holds ? "holds" : "**cannot**"}: ${why}`;
}
