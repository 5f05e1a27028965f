/** Random programs against WASI: nothing outside of the mounts changes or shows up, and no fault of the host's is thrown. */
import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import fc from "fast-check";
import { bareOptions } from "../../src/wasi/host_fixture.ts";
import { createWasi } from "../../src/wasi/host.ts";
import { symlinkInside } from "../../src/wasi/files/symlink_inside.ts";
import { digestFiles } from "../../capsules/build.ts";
import { Bed } from "../harness.ts";
import { fuzz } from "./fuzz.ts";
import { program, runProgram, type Seen, type Step } from "./wasi_program.ts";

const SENTINEL = "SENTINEL-5f1c";

/** A folder with two mounts, a tree outside of them, and in the mounts what an operator may have left there. */
class Ground implements Disposable {
  readonly top = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "boll-fuzz-" }));
  readonly root = join(this.top, "root");
  readonly outside = join(this.top, "outside");
  readonly #before: string;

  constructor() {
    for (const name of ["root/deep/deep/deep", "root/a", "ro/deep", "outside/deep"]) {
      Deno.mkdirSync(join(this.top, name), { recursive: true });
    }
    for (const name of ["outside/secret", "outside/passwd", "outside/deep/file"]) {
      Deno.writeTextFileSync(join(this.top, name), SENTINEL);
    }
    for (const name of ["root/file", "root/b", "root/deep/deep/deep/file", "ro/file", "ro/deep/file"]) {
      Deno.writeTextFileSync(join(this.top, name), "inside");
    }
    for (const mount of [this.root, join(this.top, "ro")]) {
      Deno.symlinkSync("../outside", join(mount, "out"));
      Deno.symlinkSync(this.outside, join(mount, "abs"));
      Deno.symlinkSync("deep/../../outside", join(mount, "climb"));
      Deno.symlinkSync("loop", join(mount, "loop"));
      Deno.symlinkSync("nowhere", join(mount, "dangling"));
      Deno.listen({ transport: "unix", path: join(mount, "socket") }).close();
    }
    fifo(join(this.root, "pipe"));
    this.#before = this.#outsideNow();
  }

  check({ texts, faults }: Seen, denials: readonly string[] = []): void {
    assertEquals(faults, []);
    for (const text of [...texts, ...denials]) assert(!text.includes(SENTINEL), `outside was seen: ${text}`);
    for (const text of texts) assert(!text.includes(this.top), `a path of the host was seen: ${text}`);
    assertEquals(this.#outsideNow(), this.#before, "outside has changed");
  }

  /** Content, times and kinds of everything outside of the writable mount, and what is beside it. */
  #outsideNow(): string {
    const paths = [
      "outside",
      "outside/secret",
      "outside/passwd",
      "outside/deep",
      "outside/deep/file",
      "ro",
      "ro/file",
      "ro/deep/file",
    ];
    const facts = paths.map((path) => {
      const { mtime, size, ino, mode, nlink } = Deno.lstatSync(join(this.top, path));
      return [path, mtime?.getTime(), size, ino, mode, nlink].join();
    });
    const names = [...Deno.readDirSync(this.top)].map(({ name }) => name).sort();
    return [...facts, ...names, digestFiles([this.outside, join(this.top, "ro/deep")])].join("\n");
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.top, { recursive: true });
  }
}

function fifo(path: string): void {
  const { success } = new Deno.Command("mkfifo", { args: [path] }).outputSync();
  assert(success);
}

/** A trap that WASI asks for, or that no other type of its answer can say: the guest ends there. */
function isTrap(error: unknown): boolean {
  return error instanceof Error && /^(Write|Write zeroes): more than check-write allows$/.test(error.message);
}

/** A host over the ground, bound by the names of the guest's bindings. */
function inProcess(ground: Ground, steps: readonly Step[]): { seen: Seen; denials: string[] } {
  const preopens = [
    { guest: "/rw", host: ground.root, mode: "rw" },
    { guest: "/ro", host: join(ground.top, "ro"), mode: "ro" },
  ] as const;
  const denials: string[] = [];
  const wasi = createWasi(bareOptions({
    preopens,
    onDenied: ({ asked, allow }) => void denials.push(`${asked} ${allow}`),
    makeSymlink: (place) => symlinkInside(preopens, place),
    limits: { openFiles: 12, fileBytes: 1_000_000, workBytes: 3_000_000 },
  }));
  try {
    const { imports } = wasi;
    const bindings = {
      preopens: imports["wasi:filesystem/preopens"],
      fs: imports["wasi:filesystem/types"],
      poll: imports["wasi:io/poll"],
      monotonicClock: imports["wasi:clocks/monotonic-clock"],
      wallClock: imports["wasi:clocks/wall-clock"],
      random: imports["wasi:random/random"],
      environment: imports["wasi:cli/environment"],
      u64: (value: bigint) => value,
      stdin: imports["wasi:cli/stdin"]!["getStdin"],
      stderr: imports["wasi:cli/stderr"]!["getStderr"],
    };
    return { seen: runProgram(steps, bindings, isTrap), denials };
  } finally {
    wasi.close();
  }
}

/** Bytes of files in the writable mount, holes left out. */
function writtenBytes(folder: string): number {
  let bytes = 0;
  for (const entry of Deno.readDirSync(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) bytes += writtenBytes(path);
    else if (entry.isFile) bytes += 512 * (Deno.lstatSync(path).blocks ?? 0);
  }
  return bytes;
}

fuzz(
  "whatever a guest calls, the host answers with values of WASI, and nothing outside of the mounts is touched or seen",
  {
    input: program,
    runs: 120,
    check(steps) {
      using ground = new Ground();
      const { seen, denials } = inProcess(ground, steps);
      ground.check(seen, denials);
      assert(writtenBytes(ground.root) < 16 * 2 ** 20, "more was written than the limit says");
    },
  },
);

fuzz("two guests of one host see nothing of each other's handles", {
  input: fc.tuple(program, program),
  runs: 15,
  check([one, other]) {
    using ground = new Ground();
    for (const steps of [one, other, one]) ground.check(inProcess(ground, steps).seen);
  },
});

/** The program as a source of the probe, which binds the same names. */
function sourceOf(steps: readonly Step[]): string {
  return `(() => {
    const wasi = {
      preopens: { getDirectories: () => preopens().map((path) => [mount(path), path]) },
      fs, poll, monotonicClock, wallClock, random, environment, stdin, stderr,
      u64: (value) => Number(value > 2n ** 63n ? 2n ** 63n : value),
    };
    return (${runProgram})(${JSON.stringify(steps)}, wasi, () => false);
  })()`;
}

fuzz(
  "a real guest in its cell, whatever it calls, ends as it likes, and nothing outside of its mounts is touched or seen",
  {
    input: program,
    runs: 4,
    costly: true,
    async check(steps) {
      using ground = new Ground();
      await using bed = new Bed("binary");
      const mounts = ["--mount", `${ground.root}:/rw:rw`, "--mount", `${join(ground.top, "ro")}:/ro:ro`];
      const flags = [...mounts, "--memory", "64m", "--deadline", "30s"];
      const { code, stderr, value } = await bed.probe(sourceOf(steps), { flags });
      const last = bed.trace().at(-1);
      assertEquals(last?.event, "session_end");
      assert(!stderr.includes(SENTINEL) && !/\bat .*\.(ts|js):\d+:\d+/.test(stderr), stderr);
      if (last?.ended_by === "trap") return assert(/more than check-write allows/.test(stderr), stderr);
      assertEquals([code, last?.ended_by], [0, "guest"], stderr);
      ground.check(value as Seen);
    },
  },
);
