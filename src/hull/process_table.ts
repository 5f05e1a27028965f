import type { Libc } from "./libc.ts";

/** One process, as the kernel's table has it. */
export interface ProcessEntry {
  readonly pid: number;
  /** Ticks since the system's start. */
  readonly started: string;
  /** It has ended, and nobody has waited for it yet. */
  readonly dead: boolean;
}

const AT_FDCWD = -100;
const O_CLOEXEC = 0o2000000;
const PATH_BYTES = 64;
const READ_BYTES = 4096;
/** Bounds of what is looked at: a tree of processes can be made faster than it is read. */
const MAX_DEPTH = 32;
const MAX_PROCESSES = 4_096;
const MAX_TEXT_LENGTH = 64 * 1024;

/**
 * The processes of `/proc`, read through libc: the runtime gives these files only to a program with all permissions.
 * Where they cannot be read there are none.
 */
export class ProcessTable {
  readonly #libc: Libc;
  readonly #path = new Uint8Array(PATH_BYTES);
  readonly #buffer = new Uint8Array(READ_BYTES);
  readonly #pathAddress: bigint;
  readonly #bufferAddress: bigint;

  constructor(libc: Libc) {
    this.#libc = libc;
    // Asked for once: every look-up of an address is kept until libc is closed.
    this.#pathAddress = libc.addressOf(this.#path);
    this.#bufferAddress = libc.addressOf(this.#buffer);
  }

  /** The process, if there is one. */
  entry(pid: number): ProcessEntry | undefined {
    const stat = this.#read(`/proc/${pid}/stat`);
    // The name before is the process's own choice and may hold anything, but not a parenthesis behind its last.
    const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, started] = [fields?.[0], fields?.[19]];
    return state && started ? { pid, started, dead: state === "Z" || state === "X" } : undefined;
  }

  /** Living processes that descend from the one given, parents first. */
  descendants(pid: number): ProcessEntry[] {
    const found: ProcessEntry[] = [];
    let level = [pid];
    for (let depth = 0; depth < MAX_DEPTH && level.length > 0 && found.length < MAX_PROCESSES; depth++) {
      const below: number[] = [];
      for (const parent of level) {
        if (below.length >= MAX_PROCESSES) break;
        for (const child of this.children(parent)) below.push(child);
      }
      level = below.slice(0, MAX_PROCESSES);
      for (const child of level) {
        const entry = this.entry(child);
        if (entry && !entry.dead && found.length < MAX_PROCESSES) found.push(entry);
      }
    }
    return found;
  }

  /** Pids of the process's children, dead ones among them; of very many, some. */
  children(pid: number): number[] {
    const pids: number[] = [];
    for (const thread of listThreads(pid)) {
      const text = this.#read(`/proc/${pid}/task/${thread}/children`) ?? "";
      // A word that has no space behind it was cut.
      for (const word of text.split(" ").slice(0, -1)) pids.push(Number(word));
      if (pids.length >= MAX_PROCESSES) break;
    }
    return pids;
  }

  #read(path: string): string | undefined {
    const { written } = new TextEncoder().encodeInto(`${path}\0`, this.#path);
    if (written !== path.length + 1) return undefined;
    const descriptor = this.#libc.call("openat", AT_FDCWD, this.#pathAddress, O_CLOEXEC, 0);
    if (descriptor < 0) return undefined;
    let text = "";
    while (text.length < MAX_TEXT_LENGTH) {
      const count = this.#libc.call("read", descriptor, this.#bufferAddress, READ_BYTES);
      if (count <= 0) break;
      text += new TextDecoder("latin1").decode(this.#buffer.subarray(0, count));
    }
    this.#libc.call("close", descriptor);
    return text === "" ? undefined : text;
  }
}

function listThreads(pid: number): string[] {
  try {
    return [...Deno.readDirSync(`/proc/${pid}/task`)].map(({ name }) => name);
  } catch {
    return [];
  }
}
