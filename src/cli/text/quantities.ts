const BYTE_UNITS = ["kB", "MB", "GB", "TB"];

/** A number of bytes for people: `0 bytes`, `12.3 kB`. */
export function byteSize(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  let [value, unit] = [bytes / 1000, 0];
  while (value >= 999.95 && unit < BYTE_UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${value.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

/** A time span for people: `250 ms`, `1.5 s`, `3 min 5 s`, `2 h 4 min`. */
export function timeSpan(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A moment for people, UTC to the second; the number itself when no calendar has it. */
export function utcTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString().slice(0, 19).replace("T", " ");
}

/** `1 session`, `2 sessions`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
