/** A Markdown table; the first column is text, the others are numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map((_, column) => column === 0 ? "---" : "---:"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
