/** What the pages show of a terminal is what happens: each line is typed as it stands, into a checkout's copy. */
import { assertEquals, assertMatch } from "@std/assert";
import { dirname } from "@std/path";
import { type Bed, forMode, REPOSITORY } from "../harness.ts";
import { warmSamples } from "../warm_cache.ts";
import { consolesOf, patternOf, type Shown } from "./shown_console.ts";

/** The samples that a page runs. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  "README.md": ["hello", "word-count", "reviewer", "summarizer"],
  "docs/agents.md": ["reviewer", "summarizer", "assistant"],
  "docs/delegation.md": ["relay", "word-count"],
};

for (const [page, samples] of Object.entries(PAGES)) {
  forMode("binary", `${page}: what it types does what it shows`, async (bed) => {
    const lines = consolesOf(page).flat();
    const folder = bed.folder("boll");
    copySamples(folder);
    await warmSamples(bed, samples);
    const outputs = await typeAll(bed, lines, folder);
    assertEquals(outputs.length, lines.length);
    const paths = { "/home/ada/boll": folder, "/home/ada/.local/share/boll": bed.home };
    for (const [at, { command, output }] of lines.entries()) {
      assertMatch(outputs[at]!, patternOf(output, { paths }), `${page}: $ ${command}`);
    }
  });
}

Deno.test("patternOf: ids and times may be others, and nothing else; what is left out may be anything", () => {
  const shown = `one ses_${"0".repeat(32)} after 1.5 s\n  …\n2 files in /home/ada/x\n`;
  const pattern = patternOf(shown, { paths: { "/home/ada": "/tmp" } });
  assertMatch(`one ses_${"a".repeat(32)} after 20 ms\nmore\n2 files in /tmp/x\n`, pattern);
  for (
    const [from, to] of [["one", "two"], ["2 files", "3 files"], ["ses_", "tsk_"], ["/tmp/x", "/home/ada/x"]] as const
  ) {
    const other = `one ses_${"a".repeat(32)} after 20 ms\nmore\n2 files in /tmp/x\n`.replace(from, to);
    assertEquals(pattern.test(other), false, other);
  }
  assertEquals(patternOf("3 files", { numbers: true }).test("4 files"), true);
});

/** Types the lines into one shell; what each printed, on both streams, in their order. */
async function typeAll(bed: Bed, lines: readonly Shown[], folder: string): Promise<string[]> {
  const [program = ""] = bed.command([]);
  const script = lines.map(({ command }) => `{ ${command}\n} 2>&1\necho '--8<--'\n`).join("");
  const env = { PATH: `${dirname(program)}:/usr/local/bin:/usr/bin:/bin` };
  const { stdout } = await bed.startCommand(["sh", "-c", script], { cwd: folder, env }).result();
  return stdout.split("--8<--\n").slice(0, -1);
}

/** The samples without their sources' history: a lock is written beside them. */
function copySamples(folder: string): void {
  const copy = (from: string, to: string) => {
    Deno.mkdirSync(to, { recursive: true });
    for (const { name, isDirectory } of Deno.readDirSync(from)) {
      if (isDirectory) copy(`${from}/${name}`, `${to}/${name}`);
      else if (name !== "boll.lock") Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
    }
  };
  copy(`${REPOSITORY}/capsules`, `${folder}/capsules`);
}
