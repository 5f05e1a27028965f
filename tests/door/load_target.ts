/**
 * What `load.ts` and `load_ended.ts` load: two doors in a process from source, or one `dist/boll serve` of a guest, as a person has it.
 * @module
 */
import { join } from "@std/path";
import { Bed } from "../harness.ts";
import { childrenOf } from "../processes.ts";
import { serve } from "../process/served.ts";

/** One or two open doors. */
export interface LoadTarget extends AsyncDisposable {
  /** Where the task that is read runs, and where messages go. */
  readonly talking: number;
  readonly answering: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The message that starts the task that is read. */
  readonly talk: string;
  /** The message that comes so often, and whether the readers hear of it. */
  message(count: number, isTold: boolean): string;
  /** The process that the door is in. */
  readonly pid: number;
  /** The name of the metric that counts the readers that were too slow. */
  readonly dropped: string;
  /** What its heap holds once all garbage is gone, bytes; absent where nobody can ask for that. */
  heldBytes?(): Promise<number>;
}

/** MiB that a door has, and how many of its heap are more than garbage. */
export interface DoorMemory {
  readonly residentMiB: number;
  readonly heldMiB?: number;
}

/** What memory a door has now; finding out what its heap holds makes it collect. */
export async function memoryOf(target: LoadTarget, isHeld: boolean): Promise<DoorMemory> {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(Deno.readTextFileSync(`/proc/${target.pid}/status`))!;
  const held = isHeld ? await target.heldBytes?.() : undefined;
  return {
    residentMiB: Math.round(Number(kib) / 1024),
    ...(held !== undefined && { heldMiB: Math.round(held / 1024 / 102.4) / 10 }),
  };
}

const VERSION = { "a2a-version": "1.0" };
/** A message that begins so is not told to readers. */
export const QUIET = "quiet";
const FILLER = "x".repeat(500);
const LONG_FILLER = "x".repeat(2_000);

/** Doors whose work is nothing, and a task that says something for each message; named ones keep theirs in a folder. */
export async function openSource({ isNamed }: { readonly isNamed: boolean }): Promise<LoadTarget> {
  const folder = isNamed ? Deno.makeTempDirSync() : undefined;
  const program = join(import.meta.dirname!, "load_doors.ts");
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-all", "--no-check", "--v8-flags=--expose-gc", program, ...folder ? [folder] : []],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const stdout = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const stdin = child.stdin.getWriter();
  // It says a line when it is asked, and nothing else.
  const line = async () => {
    let said = "";
    while (!said.endsWith("\n")) said += (await stdout.read()).value ?? "\n";
    return said;
  };
  const [talking, answering] = (await line()).split(" ").map(Number) as [number, number];
  return {
    talking,
    answering,
    headers: VERSION,
    talk: "go",
    message: (count, isTold) => `${isTold ? "" : QUIET} ${count} ${FILLER}`,
    pid: child.pid,
    dropped: "boll_load_dropped",
    async heldBytes() {
      await stdin.write(new Uint8Array(1));
      return Number(await line());
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await Promise.allSettled([stdout.cancel(), stdin.close(), child.status]);
      if (folder !== undefined) Deno.removeSync(folder, { recursive: true });
    },
  };
}

/** `dist/boll serve --queue 9999`: one task talks fifty times a second, and all messages behind it wait for it. */
export async function openExecutable(): Promise<LoadTarget> {
  const bed = new Bed("binary");
  const flags = ["--queue", "9999", "--task-timeout", "1h", "--name", "loaded"];
  const grants = { limits: { output_bytes: 1_000_000_000 } };
  const served = await serve(bed, { flags, grants, safetyNetMs: 3_600_000 });
  const port = Number(new URL(served.url).port);
  const [session] = childrenOf(served.pid);
  return {
    talking: port,
    answering: port,
    headers: { ...VERSION, authorization: `Bearer ${served.token}` },
    talk: `for (;;) { print("${LONG_FILLER}"); monotonicClock.subscribeDuration(20_000_000).block(); }`,
    message: (count) => `"${count} ${FILLER}"`,
    pid: session!,
    dropped: "boll_door_readers_dropped_total",
    async [Symbol.asyncDispose]() {
      await served.stop();
      await bed[Symbol.asyncDispose]();
    },
  };
}
