import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Bed, forExecutable } from "../harness.ts";
import { statusField, waitForEnd } from "../processes.ts";
import { Terminal } from "../terminal.ts";
import { WAYS_TO_BE_BUSY } from "./guest_run.ts";
import { assertNothingLeft, processesOf, waitForNoProcess } from "./leftovers.ts";
import { sessionEnd } from "./limited_run.ts";
import { warmGuest } from "../warm_cache.ts";

/** A person's shell: interactive, with job control, in a terminal of its own. */
class Shell implements AsyncDisposable {
  readonly terminal: Terminal;
  readonly #bed: Bed;
  #commands = 0;

  private constructor(bed: Bed) {
    this.#bed = bed;
    this.terminal = new Terminal(["bash", "--norc", "--noprofile", "-i"], {
      scratch: bed.root,
      cwd: bed.root,
      env: bed.environment({ PS1: "ready-\\#> ", HISTFILE: "/dev/null" }),
    });
  }

  static async open(bed: Bed): Promise<Shell> {
    const shell = new Shell(bed);
    await shell.prompt();
    return shell;
  }

  /** Waits until the shell reads again: what is typed before belongs to whoever has the terminal. */
  async prompt(): Promise<void> {
    await this.terminal.waitFor(`ready-${this.#commands + 1}> `);
  }

  /** Types a command once the shell reads. */
  async command(line: string): Promise<void> {
    await this.prompt();
    this.#commands++;
    await this.terminal.type(`${line}\n`);
  }

  /** Types a run of the probe with this source, and waits until its guest is up, this one and not one before. */
  async runProbe(source: string, flags: readonly string[] = []): Promise<void> {
    const mark = await this.typeProbe(source, flags);
    await this.terminal.waitFor(mark);
  }

  /** Types a run of the probe with this source, and gives what its guest prints first. */
  async typeProbe(source: string, flags: readonly string[] = []): Promise<string> {
    const mark = `up-${this.#commands}`;
    const probe = await warmGuest(this.#bed, "probe");
    const words = this.#bed.command(["run", probe, ...flags, "--", `print("guest-" + "${mark}"); ${source}`]);
    const line = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    // What a terminal takes as one line is bounded, so it is read from a file.
    Deno.writeTextFileSync(`${this.#bed.root}/run-${mark}`, line);
    await this.command(`. ./run-${mark}`);
    return `guest-${mark}`;
  }

  /** Types a line of shell and gives what `$(…)` of it is. */
  async ask(line: string): Promise<string> {
    const mark = `${this.#commands}`;
    await this.command(`echo "answer-${mark}:" "$(${line})" :end-${mark}`);
    const answer = new RegExp(`answer-${mark}: ([^]*?) :end-${mark}`);
    return answer.exec(await this.terminal.waitFor(answer))?.[1]?.trim() ?? "";
  }

  /** The exit code of the last command. */
  async code(): Promise<number> {
    return Number(await this.ask("echo $?"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.terminal[Symbol.asyncDispose]();
  }
}

/** Flags of the open terminal (O_NONBLOCK is 04000) and its modes: what a run might leave behind for the shell. */
const TERMINAL_STATE = "grep flags /proc/self/fdinfo/0; stty -g";
const NON_BLOCKING = 0o4000;

async function assertSameTerminal(shell: Shell, before: string): Promise<void> {
  const after = await shell.ask(TERMINAL_STATE);
  assertEquals(after, before);
  assertEquals(Number.parseInt(after.split(/\s+/)[1] ?? "", 8) & NON_BLOCKING, 0);
}

forExecutable("terminal: after a run it blocks and has its modes, however the run ended", async (bed) => {
  await using shell = await Shell.open(bed);
  const before = await shell.ask(TERMINAL_STATE);
  assertStringIncludes(before, "flags:");
  const waits = "poll.poll([stdin().subscribe(), monotonicClock.subscribeDuration(3e18)])";
  for (const flags of [[], ["--mount", `${bed.folder("data")}:/data:ro`]]) {
    await shell.runProbe("1", flags);
    assertEquals(await shell.code(), 0);
    await assertSameTerminal(shell, before);
    await shell.typeProbe(waits, [...flags, "--deadline", "500ms"]);
    assertEquals(await shell.code(), 124);
    await assertSameTerminal(shell, before);
    await shell.runProbe(waits, flags);
    await shell.terminal.type("\x03");
    assertEquals(await shell.code(), 130);
    await assertSameTerminal(shell, before);
    await shell.runProbe(waits, flags);
    const bolls = processesOf(bed).filter(isBoll);
    Deno.kill(Math.min(...bolls), "SIGKILL");
    for (const pid of bolls) await waitForEnd(pid);
    assertEquals(await shell.code(), 137);
    await assertSameTerminal(shell, before);
  }
});

/** Boll and its cells, and not the shell they were started from. */
function isBoll(pid: number): boolean {
  return !["bash", "sh", "script"].includes(statusField(pid, "Name"));
}

for (const [way, source] of Object.entries(WAYS_TO_BE_BUSY)) {
  forExecutable(`terminal: Ctrl-C interrupts a guest that ${way}, is recorded, and leaves nothing`, async (bed) => {
    await using shell = await Shell.open(bed);
    await shell.runProbe(source);
    const bolls = processesOf(bed).filter(isBoll);
    assertEquals(bolls.length, 2);
    await shell.terminal.type("\x03");
    assertEquals(await shell.code(), 130);
    for (const pid of bolls) await waitForEnd(pid);
    const { status, exit_code, ended_by } = sessionEnd(bed);
    assertEquals([status, exit_code, ended_by], ["cancelled", 130, "interrupted"]);
  });
}

forExecutable(
  "terminal: Ctrl-Z stops boll and its cell, fg goes on where they were, also with a busy guest",
  async (bed) => {
    await using shell = await Shell.open(bed);
    for (const [source, keys, code] of [["readStdin()", "x\n\x04", 0], ["for (;;);", "\x03", 130]] as const) {
      await shell.runProbe(source);
      const bolls = processesOf(bed).filter(isBoll);
      const areStopped = (wanted: boolean) =>
        bolls.every((pid) => (statusField(pid, "State") === "T (stopped)") === wanted);
      await shell.terminal.type("\x1a");
      // A thread of the cell that is not stopped yet would read what is typed for the shell.
      while (!areStopped(true)) await new Promise((resolve) => setTimeout(resolve, 5));
      assertEquals(await shell.code(), 148);
      assertEquals(areStopped(true), true);
      await shell.command("fg");
      while (!areStopped(false)) await new Promise((resolve) => setTimeout(resolve, 5));
      await shell.terminal.type(keys);
      assertEquals(await shell.code(), code);
    }
  },
);

forExecutable("terminal: when it goes away the run is interrupted, recorded, and leaves nothing", async (bed) => {
  for (const source of ["readStdin()", "for (;;);"]) {
    {
      await using shell = await Shell.open(bed);
      await shell.runProbe(source);
    }
    await waitForNoProcess(bed);
    const { status, exit_code, ended_by } = sessionEnd(bed);
    assertEquals([status, exit_code, ended_by], ["cancelled", 130, "interrupted"]);
    assertNothingLeft(bed);
  }
});
