/** What a process has in memory for itself, and its share of the rest (PSS), bytes. */
export function memoryOf(pid: number): number {
  const found = /^Pss: +(\d+) kB$/m.exec(Deno.readTextFileSync(`/proc/${pid}/smaps_rollup`))?.[1];
  if (found === undefined) throw new Error(`Read the memory of ${pid}: found no Pss`);
  return 1024 * Number(found);
}

/** Of all of them together. */
export function sumOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + memoryOf(pid), 0);
}
