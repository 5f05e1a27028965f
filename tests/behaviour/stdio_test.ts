import { assert, assertEquals } from "@std/assert";
import { type Bed, fixture, forEachMode, forExecutable } from "../harness.ts";
import { cellOf, peakMemoryBytes } from "../processes.ts";

const GIBIBYTE = 2 ** 30;
const CHUNK = new Uint8Array(65_536).fill(0x61);

forEachMode("run: arguments, variables and folders of a guest are exactly what was given", async (bed) => {
  const env = { LANG: "C.UTF-8", SECRET: "not yours" };
  const { value } = await bed.probe("({ args, env, mounts: preopens() })", {
    args: ["--flag", "", "ä b"],
    flags: ["--env", "LANG", "--env", "NAME=value", "--env", "ABSENT"],
    env,
  });
  assertEquals(value, { args: ["--flag", "", "ä b"], env: { LANG: "C.UTF-8", NAME: "value" }, mounts: [] });
  const { value: nothing } = await bed.probe("env", { env });
  assertEquals(nothing, {});
});

forEachMode("run: stdin reaches the guest whole and ends; without one it is empty", async (bed) => {
  assertEquals((await bed.probe("readStdin()", { stdin: "zwei\nZeilen ✓" })).value, "zwei\nZeilen ✓");
  assertEquals((await bed.probe("readStdin()")).value, "");
  for (const guest of ["cat", "cat_splice"]) {
    const bytes = crypto.getRandomValues(new Uint8Array(60_000));
    const copied = await bed.guest(guest, [], { stdin: bytes });
    assertEquals([copied.code, copied.stderr], [0, ""]);
    assertEquals(copied.stdoutBytes, bytes);
  }
});

forEachMode("run: stdout and stderr are two streams, and neither is a terminal in a pipe", async (bed) => {
  const result = await bed.probe('print("out"); printError("err"); return terminal.stdout() || terminal.stdin()');
  assertEquals([result.stdout, result.stderr, result.code], ["out\nfalse\n", "err\n", 0]);
});

forEachMode("run: a guest may be asked for 2^64-1 bytes, or want them, and only itself is hurt", async (bed) => {
  assertEquals((await bed.guest("huge_lengths", [], { stdin: "abc" })).code, 0);
  assertEquals((await bed.guest("huge_random")).code, 1);
});

forEachMode("run: a guest that writes more zeroes than the stream permits is ended, not served", async (bed) => {
  assertEquals((await bed.guest("huge_zeroes")).code, 1);
});

for (const guest of ["cat", "cat_splice"]) {
  forExecutable(`run: 1 GiB from stdin to stdout (${guest}) in flat memory`, async (bed) => {
    using pump = await Pump.open(bed, guest);
    await pump.move(16 * 2 ** 20);
    const before = peakMemoryBytes(pump.cell);
    await pump.move(GIBIBYTE);
    const grown = peakMemoryBytes(pump.cell) - before;
    assert(grown < 64 * 2 ** 20, `the cell grew by ${grown} bytes`);
    assertEquals(await pump.close(), 0);
  });
}

forEachMode("run: `boll run … | head -1` ends at once, with 141", async (bed) => {
  const path = await fixture("flood");
  const words = bed.command(["run", path]).map((word) => `'${word}'`).join(" ");
  const shell = new Deno.Command("sh", {
    args: ["-c", `{ yes | ${words}; echo "code $?" >&2; } | head -1`],
    clearEnv: true,
    env: bed.environment(),
    cwd: bed.root,
  });
  const { stdout, stderr } = await shell.output();
  assertEquals(new TextDecoder().decode(stdout), "y\n");
  assertEquals(new TextDecoder().decode(stderr), "code 141\n");
});

/** Moves bytes through a guest that copies stdin to stdout, and keeps it alive meanwhile. */
class Pump implements Disposable {
  readonly #running: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<Uint8Array>;
  #surplus = 0;

  private constructor(running: Deno.ChildProcess) {
    this.#running = running;
    this.#input = running.stdin.getWriter();
    this.#output = running.stdout.getReader();
  }

  static async open(bed: Bed, guest: string): Promise<Pump> {
    const [program = "", ...args] = bed.command(["run", await fixture(guest)]);
    const options = { args, clearEnv: true, env: bed.environment(), stdin: "piped", stdout: "piped" } as const;
    return new Pump(new Deno.Command(program, options).spawn());
  }

  /** The process of the guest; there is one once bytes came through. */
  get cell(): number {
    return cellOf(this.#running.pid);
  }

  /** Writes `bytes` and waits until as many came out. */
  async move(bytes: number): Promise<void> {
    const writing = (async () => {
      for (let left = bytes; left > 0; left -= CHUNK.length) await this.#input.write(CHUNK);
    })();
    let left = bytes - this.#surplus;
    while (left > 0) left -= (await this.#output.read()).value?.length ?? Infinity;
    this.#surplus = -left;
    await writing;
  }

  async close(): Promise<number> {
    await this.#input.close();
    while (!(await this.#output.read()).done);
    return (await this.#running.status).code;
  }

  [Symbol.dispose](): void {
    try {
      this.#running.kill("SIGKILL");
    } catch {
      // It has ended.
    }
  }
}
