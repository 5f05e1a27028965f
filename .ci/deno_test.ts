import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";

const SCRIPT = join(import.meta.dirname!, "deno");

/** Says that it is this version, and echoes any other arguments. */
const fakeDeno = (version: string) =>
  `#!/bin/sh\nif [ "$1" = --version ]; then echo "deno ${version} (stable)"; else echo "ran $*"; fi\n`;

/** What npm does for `pack`: leaves an archive in the current folder; this one is not the pinned one. */
const FAKE_NPM = `#!/bin/sh\nmkdir package && cp "$0" package/deno && tar -czf deno.tgz package\n`;

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What is in `.deno/` afterwards. */
  readonly left: string[];
}

/** Runs a copy of the script in a checkout of its own, with `programs` first on PATH and `own` as `.deno/deno`. */
async function run(programs: Record<string, string>, own?: string): Promise<Ran> {
  const root = Deno.makeTempDirSync({ prefix: "boll-deno-" });
  try {
    for (const folder of [".ci", ".deno", "bin"]) Deno.mkdirSync(join(root, folder));
    Deno.copyFileSync(SCRIPT, join(root, ".ci", "deno"));
    for (const [name, text] of Object.entries(programs)) {
      Deno.writeTextFileSync(join(root, "bin", name), text, { mode: 0o755 });
    }
    if (own) Deno.writeTextFileSync(join(root, ".deno", "deno"), own, { mode: 0o755 });
    const command = new Deno.Command("/bin/sh", {
      args: [join(root, ".ci", "deno"), "one", "two words"],
      clearEnv: true,
      env: { PATH: `${join(root, "bin")}:/usr/bin:/bin` },
    });
    const { code, stdout, stderr } = await command.output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    const left = [...Deno.readDirSync(join(root, ".deno"))].map((entry) => entry.name);
    return { code, stdout: text(stdout), stderr: text(stderr), left };
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("the deno script runs .deno/deno or the one on PATH when it is the pinned version, and passes arguments on", async () => {
  const version = Deno.version.deno;
  const onPath = await run({ deno: fakeDeno(version) });
  assertEquals([onPath.code, onPath.stdout, onPath.left], [0, "ran one two words\n", []]);
  const own = await run({ deno: fakeDeno("9.9.9") }, fakeDeno(version));
  assertEquals([own.code, own.stdout], [0, "ran one two words\n"]);
});

Deno.test({
  name: "the deno script refuses an archive that is not the pinned one, and leaves nothing of it",
  ignore: Deno.build.target !== "x86_64-unknown-linux-gnu",
  async fn() {
    const { code, stdout, stderr, left } = await run({ deno: fakeDeno("9.9.9"), npm: FAKE_NPM });
    assertEquals([code, stdout, left], [1, "", []]);
    assertStringIncludes(stderr, "the archive's sha512 is not the pinned one");
  },
});
