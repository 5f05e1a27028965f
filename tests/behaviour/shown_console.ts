/** What a page shows of a terminal, and whether that is what happens. */
import { REPOSITORY } from "../harness.ts";

/** A line that is typed, and what is shown below it. */
export interface Shown {
  readonly command: string;
  readonly output: string;
}

/** What `patternOf` lets be another; ids and times always are. */
export interface Masks {
  /** Counts, sizes, ports and pids as well. */
  readonly numbers?: boolean;
  /** What stands on the page for a folder, and where that is here. */
  readonly paths?: Readonly<Record<string, string>>;
}

/** The consoles of a page below the repository's folder, in their order; those of one section alone if it is named. */
export function consolesOf(page: string, section?: string): Shown[][] {
  const text = Deno.readTextFileSync(`${REPOSITORY}/${page}`);
  const part = section === undefined ? text : text.split(`\n## ${section}\n`)[1] ?? "";
  return [...part.matchAll(/```console\n([^]*?)```/g)].map(([, block]) => readConsole(block!));
}

function readConsole(block: string): Shown[] {
  const shown: { command: string; output: string }[] = [];
  for (const line of block.trimEnd().split("\n")) {
    const last = shown.at(-1);
    if (line.startsWith("$ ")) shown.push({ command: line.slice(2), output: "" });
    else if (isOpen(last!.command)) last!.command += `\n${line}`;
    else last!.output += `${line}\n`;
  }
  return shown;
}

/** Whether a shell would read on. */
function isOpen(command: string): boolean {
  return command.endsWith("\\") || command.split("'").length % 2 === 0;
}

/** Ids and times are others each time, a line is broken to fit the page, and `…` is left out. */
export function patternOf(output: string, { numbers = false, paths = {} }: Masks = {}): RegExp {
  const here = Object.entries(paths).reduce((text, [from, to]) => text.replaceAll(from, to), output);
  const masked = /(…|[a-z]{3}_[0-9a-f]{32}|\d+(?:\.\d+)? (?:ms|s|min)\b|duration_ms: \d+|ABI \d+|\d+(?:\.\d+)?|\s+)/;
  const words = here.trim().split(masked).map((word) => {
    if (word === "…") return "[^]*";
    if (/^[a-z]{3}_[0-9a-f]{32}$/.test(word)) return `${word.slice(0, 4)}[0-9a-f]{32}`;
    if (/ (?:ms|s|min)$/.test(word)) return "[\\d.]+ (?:ms|s|min)";
    if (/^(?:duration_ms:|ABI) /.test(word)) return word.replace(/\d+/, "\\d+");
    if (/^\d/.test(word) && numbers) return "[\\d.]+";
    return /^\s+$/.test(word) ? "\\s*" : word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  });
  return new RegExp(`^\\s*${words.join("")}\\s*$`);
}
