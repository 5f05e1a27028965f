import { join } from "@std/path";
import { OutputReader } from "./running_boll.ts";

/** Where to run in a terminal. */
export interface TerminalOptions {
  /** A folder for the terminal's own files. */
  scratch: string;
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** After this time everything is killed and the test fails. Default 60 000 ms. */
  safetyNetMs?: number;
}

/**
 * A command in a pseudo-terminal that is its controlling one, made by `script(1)` of util-linux (Debian's bsdutils,
 * part of every base system). What is written is typed: `\x03` is Ctrl-C. Job control needs a shell as the command.
 *
 * Where `script` is missing the test fails and says so; it is never skipped.
 */
export class Terminal implements AsyncDisposable {
  readonly output: OutputReader;
  readonly #child: Deno.ChildProcess;
  readonly #keyboard: WritableStreamDefaultWriter<Uint8Array>;
  readonly #errors: OutputReader;
  readonly #net: number;
  #caught = false;

  /** @throws Error if there is no `script(1)` */
  constructor(command: readonly string[], options: TerminalOptions) {
    const line = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    // A script file: the command line of `script -c` goes through a shell of the user's choice.
    const file = join(options.scratch, `terminal-${crypto.randomUUID()}.sh`);
    Deno.writeTextFileSync(file, `exec ${line}\n`);
    try {
      this.#child = new Deno.Command("script", {
        args: ["-q", "-e", "-f", "-E", "never", "-c", `sh ${file}`, "/dev/null"],
        cwd: options.cwd,
        clearEnv: true,
        env: { ...options.env, SHELL: "/bin/sh", TERM: "dumb" },
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
    } catch (error) {
      throw new Error("Open terminal: no script(1): install util-linux (Debian: bsdutils)", { cause: error });
    }
    this.output = new OutputReader(this.#child.stdout);
    this.#errors = new OutputReader(this.#child.stderr);
    this.#keyboard = this.#child.stdin.getWriter();
    this.#net = setTimeout(() => {
      this.#caught = true;
      this.#child.kill("SIGKILL");
    }, options.safetyNetMs ?? 60_000);
  }

  /** Types `keys`. */
  async type(keys: string): Promise<void> {
    await this.#keyboard.write(new TextEncoder().encode(keys));
  }

  /** Waits until `marker` is on the screen. */
  async waitFor(marker: string | RegExp): Promise<string> {
    return await this.output.waitFor(marker);
  }

  /** Waits for the command's end and gives its exit code. */
  async end(): Promise<number> {
    const { code } = await this.#child.status;
    clearTimeout(this.#net);
    await Promise.all([this.output.toEnd(), this.#errors.toEnd()]);
    if (this.#caught) throw new Error(`The command did not end by itself: ${this.output.text.slice(-2000)}`);
    return code;
  }

  /** Takes the terminal away, if the command still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      // The terminal is gone with its master, and the kernel hangs up on whoever still runs in it.
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#keyboard.close().catch(() => {});
    clearTimeout(this.#net);
    await Promise.all([this.#child.status, this.output.toEnd(), this.#errors.toEnd()]);
  }
}
