const encoder = new TextEncoder();
let counter = 0;

/** Options of {@link writeFileWhole}. `mode` is the file's permission bits, default 0o600. */
export interface WriteFileWholeOptions {
  readonly mode?: number;
}

/**
 * Writes a file whole or not at all: a unique sibling temporary file, then rename. A reader sees the old content or
 * the new, never a part; the temporary file is gone whatever happens but the death of this process.
 */
export function writeFileWhole(path: string, data: string | Uint8Array, options: WriteFileWholeOptions = {}): void {
  const temporary = `${path}.${Deno.pid}.${++counter}.tmp`;
  const bytes = typeof data === "string" ? encoder.encode(data) : data;
  try {
    const file = Deno.openSync(temporary, { write: true, createNew: true, mode: options.mode ?? 0o600 });
    try {
      writeAll(file, bytes);
    } finally {
      file.close();
    }
    Deno.renameSync(temporary, path);
  } catch (error) {
    try {
      Deno.removeSync(temporary);
    } catch { /* it was never made, or the folder is gone */ }
    throw error;
  }
}

/** Appends one line (a newline is added) with a single write, so that concurrent appenders do not interleave. */
export function appendLine(file: Deno.FsFile, line: string): void {
  writeAll(file, encoder.encode(line + "\n"));
}

/** Writes every byte, however many calls it takes. */
export function writeAll(file: { writeSync(bytes: Uint8Array): number }, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += file.writeSync(bytes.subarray(written));
}
