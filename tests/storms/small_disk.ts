/** A disk that can be full: a tmpfs, which root may mount. Elsewhere its tests are ignored, and their names say so. */

/** What of a disk is left, or wanted: entries (files and folders) and blocks of 4 KiB. */
export interface Room {
  readonly entries: number;
  readonly blocks: number;
}

/** As much as no test needs. */
export const PLENTY: Room = { entries: 10_000, blocks: 16_384 };

const BLOCK_BYTES = 4096;

/** A mounted disk; disposing unmounts it. */
export class SmallDisk implements Disposable {
  readonly path: string;

  /** Mounts an empty disk over a folder, which is made 0700 when it is missing. */
  constructor(path: string) {
    Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
    const { entries, blocks } = PLENTY;
    tool("mount", "-t", "tmpfs", "-o", `mode=0700,size=${blocks * BLOCK_BYTES},nr_inodes=${entries}`, "none", path);
    this.path = path;
    // A size of nothing means no limit: there is always something.
    Deno.writeTextFileSync(`${path}/ballast`, "ballast");
  }

  /** From now on this much is free, whatever is there. */
  leave({ entries, blocks }: Partial<Room>): void {
    const [allEntries = 0, freeEntries = 0, allBlocks = 0, freeBlocks = 0] = tool(
      "stat",
      "--file-system",
      "--format=%c %d %b %f",
      this.path,
    ).split(" ").map(Number);
    const size = (allBlocks - freeBlocks + (blocks ?? PLENTY.blocks)) * BLOCK_BYTES;
    const inodes = allEntries - freeEntries + (entries ?? PLENTY.entries);
    this.#remount(`size=${size},nr_inodes=${inodes}`);
  }

  /** From now on nothing can be written. */
  makeReadOnly(): void {
    this.#remount("ro");
  }

  [Symbol.dispose](): void {
    tool("umount", "--lazy", this.path);
  }

  #remount(options: string): void {
    tool("mount", "-o", `remount,${options}`, this.path);
  }
}

/** Registers a test that needs a disk of its own; where none may be mounted it is ignored, with the reason in its name. */
export function diskTest(name: string, body: () => Promise<void>): void {
  Deno.test({ name: refusal === undefined ? name : `${name} (NOT RUN: ${refusal})`, ignore: !!refusal, fn: body });
}

const refusal = findRefusal();

function findRefusal(): string | undefined {
  const folder = Deno.makeTempDirSync({ prefix: "boll-test-disk-" });
  try {
    new SmallDisk(folder)[Symbol.dispose]();
    return undefined;
  } catch (error) {
    return `no disk may be mounted here: ${(error as Error).message}`;
  } finally {
    Deno.removeSync(folder);
  }
}

function tool(program: string, ...args: string[]): string {
  const { success, stdout, stderr } = new Deno.Command(program, { args, stdin: "null" }).outputSync();
  if (!success) throw new Error(`Run ${program}: ${new TextDecoder().decode(stderr).trim()}`);
  return new TextDecoder().decode(stdout).trim();
}
