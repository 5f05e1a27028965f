/** What the kernel says about processes: Linux only. */

/** The pids of a process's children. */
export function childrenOf(pid: number): number[] {
  // Each thread has its own: a test may run in another than the first.
  const threads = [...Deno.readDirSync(`/proc/${pid}/task`)].map(({ name }) => name);
  return threads.flatMap((thread) => childrenOfThread(`/proc/${pid}/task/${thread}/children`));
}

function childrenOfThread(path: string): number[] {
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return []; // the thread ended meanwhile
    throw error;
  }
  return text.split(" ").filter((word) => word !== "").map(Number);
}

/**
 * The cell of a foreground run.
 * @throws Error if there is not exactly one child
 */
export function cellOf(pid: number): number {
  const [cell, ...others] = childrenOf(pid);
  if (cell === undefined || others.length > 0) {
    throw new Error(`Find cell of ${pid}: found ${cell === undefined ? "no child" : `children ${[cell, ...others]}`}`);
  }
  return cell;
}

/** The most memory that a process ever had resident, in bytes. */
export function peakMemoryBytes(pid: number): number {
  return 1024 * Number(statusField(pid, "VmHWM").split(" ")[0]);
}

/** One field of `/proc/PID/status`, such as `NoNewPrivs`. */
export function statusField(pid: number, field: string): string {
  const line = Deno.readTextFileSync(`/proc/${pid}/status`).split("\n").find((text) => text.startsWith(`${field}:`));
  if (line === undefined) throw new Error(`Read status of ${pid}: found no field ${field}`);
  return line.slice(field.length + 1).trim();
}

/** The environment a process was started with. */
export function environmentOf(pid: number): Record<string, string> {
  const entries = Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0").filter((entry) => entry !== "");
  return Object.fromEntries(entries.map((entry) => [entry.split("=")[0], entry.slice(entry.indexOf("=") + 1)]));
}

/** The command line of a process. */
export function argumentsOf(pid: number): string[] {
  return Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0").slice(0, -1);
}

/** Where each open descriptor of a process leads. */
export function descriptorsOf(pid: number): Record<string, string> {
  const folder = `/proc/${pid}/fd`;
  const entries: [string, string][] = [];
  for (const { name } of Deno.readDirSync(folder)) entries.push([name, Deno.readLinkSync(`${folder}/${name}`)]);
  return Object.fromEntries(entries);
}

/** The process group of a process. */
export function groupOf(pid: number): number {
  const text = Deno.readTextFileSync(`/proc/${pid}/stat`);
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[2]);
}

/** Waits until a process is gone, or dead and not yet collected; the kernel is asked again and again. */
export async function waitForEnd(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}

function isAlive(pid: number): boolean {
  try {
    return !statusField(pid, "State").startsWith("Z");
  } catch {
    return false;
  }
}
