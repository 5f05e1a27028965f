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

/** Folders whose tests take longest, longest first; each of their files may run beside any other. */
const LONGEST = ["tests/process", "tests/behaviour", "tests/storms", "tests/sandbox", "tests/fuzz"] as const;
/** Files of them that run one after the other. */
const FILES_TOGETHER = 6;

/** The arguments of each `deno test`, in the order of their start; together they are every test, each once. */
export function unitsFor(paths: readonly string[], cores: number): readonly (readonly string[])[] {
  if (paths.length > 0 || cores < 2) return [paths];
  const names = [...Deno.readDirSync("tests")].filter(({ name, isDirectory }) =>
    isDirectory || /_test\.ts$/.test(name)
  );
  const others = names.map(({ name }) => `tests/${name}`).filter((path) => !LONGEST.some((folder) => folder === path));
  return [["src", ".ci", "capsules"], ...LONGEST.flatMap(partsOf), others.sort()];
}

/** The tests of a folder, some files at a time. */
function partsOf(folder: string): string[][] {
  const files = [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`)
    .filter((path) => path.endsWith("_test.ts")).sort();
  const parts: string[][] = [];
  for (let i = 0; i < files.length; i += FILES_TOGETHER) parts.push(files.slice(i, i + FILES_TOGETHER));
  return parts;
}

/** What one `deno test` printed, and how it ended. */
interface Ran {
  readonly output: string;
  readonly code: number;
}

/** Runs one `deno test`; with `isLive` its words are shown as they come, else when it is over. */
async function runUnit(args: readonly string[], isLive: boolean): Promise<Ran> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", "--no-check", "--frozen", ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  });
  const child = command.spawn();
  const decoder = new TextDecoder();
  let output = "";
  for await (const chunk of child.stdout) {
    if (isLive) Deno.stdout.writeSync(chunk);
    output += decoder.decode(chunk, { stream: true });
  }
  const { code } = await child.status;
  if (!isLive) writeWhole(output);
  return { output, code };
}

function writeWhole(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}

async function runTests(paths: readonly string[]): Promise<number> {
  const waiting = [...unitsFor(paths, navigator.hardwareConcurrency)];
  const isLive = waiting.length === 1;
  const verdicts: number[] = [];
  const sum = { passed: 0, failed: 0 };
  const lane = async () => {
    for (let args = waiting.shift(); args !== undefined; args = waiting.shift()) {
      const { output, code } = await runUnit(args, isLive);
      const counts = readCounts(output);
      if (counts === undefined) console.log(`deno test printed no summary for ${args.join(" ")}`);
      sum.passed += counts?.passed ?? 0;
      sum.failed += counts?.failed ?? 0;
      verdicts.push(verdict(counts, code));
    }
  };
  await Promise.all([lane(), lane()]);
  console.log(`${sum.passed} passed, ${sum.failed} failed`);
  return verdicts.find((code) => code !== 0) ?? 0;
}

if (import.meta.main) Deno.exit(await runTests(Deno.args));
