import type { InputFile } from "../../door/mod.ts";

/** The most files that come with one task. */
const MAX_FILES = 64;

/**
 * Puts the files of a message into `in/` of a fresh work folder. A sender's name is no path: what is left of it is plain,
 * and each file has one of its own.
 */
export function writeInputFiles(work: string, files: readonly InputFile[]): void {
  if (files.length === 0) return;
  Deno.mkdirSync(`${work}/in`, { mode: 0o700 });
  const taken = new Set<string>();
  for (const [index, { name, bytes }] of files.slice(0, MAX_FILES).entries()) {
    const plain = plainName(name) || `file-${index + 1}`;
    const own = taken.has(plain) ? `${index + 1}-${plain}` : plain;
    taken.add(own);
    Deno.writeFileSync(`${work}/in/${own}`, bytes, { createNew: true, mode: 0o600 });
  }
}

function plainName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  return last.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^\.+/, "").slice(0, 100);
}
