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

/** Folders of a lane of their own, whose tests take about as long as all others. */
const SECOND_LANE = ["tests/door", "tests/fuzz", "tests/process", "tests/sandbox", "tests/storms"];

/** The arguments of each `deno test` that runs beside the others; together they are every test, each once. */
export function lanesFor(paths: readonly string[], cores: number): readonly (readonly string[])[] {
  if (paths.length > 0 || cores < 2) return [paths];
  const others = [...Deno.readDirSync("tests")].filter(({ name, isDirectory }) =>
    isDirectory || /_test\.ts$/.test(name)
  )
    .map(({ name }) => `tests/${name}`).filter((path) => !SECOND_LANE.includes(path)).sort();
  return [["src", ".ci", "capsules", ...others], SECOND_LANE];
}

/** What one `deno test` printed; a live one has the screen meanwhile. */
async function runLane(args: readonly string[], isLive: boolean): Promise<{ output: Uint8Array[]; code: number }> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", "--no-check", "--frozen", ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  });
  const child = command.spawn();
  const output: Uint8Array[] = [];
  for await (const chunk of child.stdout) {
    if (isLive) Deno.stdout.writeSync(chunk);
    output.push(chunk);
  }
  const { code } = await child.status;
  return { output, code };
}

async function runTests(paths: readonly string[]): Promise<number> {
  const lanes = await Promise.all(
    lanesFor(paths, navigator.hardwareConcurrency).map((args, index) => runLane(args, index === 0)),
  );
  const verdicts: number[] = [];
  const sum = { passed: 0, failed: 0 };
  for (const [index, { output, code }] of lanes.entries()) {
    if (index > 0) { for (const chunk of output) Deno.stdout.writeSync(chunk); }
    const counts = readCounts(await new Blob(output as BlobPart[]).text());
    if (counts === undefined) console.log("deno test printed no summary");
    sum.passed += counts?.passed ?? 0;
    sum.failed += counts?.failed ?? 0;
    verdicts.push(verdict(counts, code));
  }
  console.log(`${sum.passed} passed, ${sum.failed} failed`);
  return verdicts.find((code) => code !== 0) ?? 0;
}

if (import.meta.main) Deno.exit(await runTests(Deno.args));
