/**
 * Runs every test of the repository and closes with the plain line `N passed, M failed`, taken from the summary that
 * `deno test` itself prints. Arguments are passed on (`deno task test src/wasi`).
 *
 * Exits non-zero when a test failed, when none ran, or when there is no summary to read.
 * @module
 */

/** What one run of `deno test` counted; steps are not tests. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
}

// deno-lint-ignore no-control-regex
const COLOR = /\u001b\[[0-9;]*m/g;
const SUMMARY = /^(?:ok|FAILED) \| (\d+) passed(?: \([^)]*\))? \| (\d+) failed/;

/** The counts of the last summary line in what `deno test` printed, or undefined when it printed none. */
export function readCounts(output: string): TestCounts | undefined {
  for (const line of output.replace(COLOR, "").split("\n").reverse()) {
    const found = SUMMARY.exec(line.trim());
    if (found) return { passed: Number(found[1]), failed: Number(found[2]) };
  }
  return undefined;
}

/** The exit code for a run: zero only when at least one test ran, none failed, and `deno test` was content. */
export function verdict(counts: TestCounts | undefined, exitCode: number): number {
  if (exitCode !== 0) return exitCode;
  return counts && counts.failed === 0 && counts.passed > 0 ? 0 : 1;
}

async function runTests(paths: readonly string[]): Promise<number> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", "--no-check", "--frozen", ...paths],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  });
  const child = command.spawn();
  const decoder = new TextDecoder();
  let output = "";
  for await (const chunk of child.stdout) {
    Deno.stdout.writeSync(chunk);
    output = (output + decoder.decode(chunk, { stream: true })).slice(-65_536);
  }
  const counts = readCounts(output);
  const { code } = await child.status;
  console.log(counts ? `${counts.passed} passed, ${counts.failed} failed` : "deno test printed no summary");
  return verdict(counts, code);
}

if (import.meta.main) Deno.exit(await runTests(Deno.args));
