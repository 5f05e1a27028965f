/** The README's lines on a door, run as they stand there. */
import { assertEquals, assertMatch } from "@std/assert";
import { dirname } from "@std/path";
import { forMode, REPOSITORY } from "../harness.ts";
import { assertNothingLeft } from "../process/leftovers.ts";

/** A line that is typed, and what is shown below it. */
interface Shown {
  readonly command: string;
  readonly output: string;
}

/** The first console of a section of the README. */
function consoleOf(section: string): Shown[] {
  const readme = Deno.readTextFileSync(`${REPOSITORY}/README.md`);
  const [, text] = /```console\n([^]*?)```/.exec(readme.split(`\n## ${section}\n`)[1] ?? "") ?? [];
  const shown: { command: string; output: string }[] = [];
  for (const line of text?.trimEnd().split("\n") ?? []) {
    const last = shown.at(-1);
    if (line.startsWith("$ ")) shown.push({ command: line.slice(2), output: "" });
    else if (isOpen(last!.command)) last!.command += `\n${line}`;
    else last!.output += `${line}\n`;
  }
  return shown;
}

/** Whether a shell would read on. */
function isOpen(command: string): boolean {
  return command.endsWith("\\") || command.split("'").length % 2 === 0;
}

/** Numbers and ids are others each time, a line is broken to fit the page, and `…` is left out. */
function patternOf(output: string): RegExp {
  const words = output.trim().split(/(…|[a-z]{3}_[0-9a-f]{32}|\d+(?:\.\d+)?|\s+)/).map((word) => {
    if (word === "…") return "[^]*";
    if (/^[a-z]{3}_/.test(word)) return `${word.slice(0, 4)}[0-9a-f]{32}`;
    if (/^\d/.test(word)) return "[\\d.]+";
    return /^\s+$/.test(word) ? "\\s*" : word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  });
  return new RegExp(`^\\s*${words.join("")}\\s*$`);
}

const PATH = Deno.env.get("PATH") ?? "";
const hasCurl = PATH.split(":").some((folder) => {
  try {
    return Deno.statSync(`${folder}/curl`).isFile;
  } catch {
    return false;
  }
});

if (hasCurl) {
  forMode("binary", "README: what it types at a door, curl too, does what it shows", async (bed) => {
    const [serving, ...rest] = consoleOf("Serve");
    assertEquals(rest.filter(({ command }) => command.startsWith("curl ")).length, 2);
    const [boll = "", ...more] = bed.command([]);
    assertEquals(more, []);
    const options = { cwd: REPOSITORY, env: { PATH: `${dirname(boll)}:${PATH}` } };
    const served = bed.startCommand(["sh", "-c", `exec ${serving!.command.replace(/ &$/, "")}`], options);
    const said = await served.stderr.waitFor("`boll token counter`\n");
    assertMatch(said, patternOf(serving!.output));
    const addressIn = (text: string) => /http:\/\/127\.0\.0\.1:\d+\//.exec(text)![0];
    const script = rest.map(({ command }) => `echo; echo '--8<--'\n${command}\n`).join("")
      .replaceAll(addressIn(serving!.output), addressIn(said));
    const typed = bed.startCommand(["sh", "-ec", script], options);
    const { code, stdout, stderr } = await typed.result();
    assertEquals(code, 0, stderr);
    const outputs = stdout.split("\n--8<--\n").slice(1);
    assertEquals(outputs.length, rest.length);
    for (const [at, { output }] of rest.entries()) assertMatch(outputs[at]!, patternOf(output));
    served.child.kill("SIGINT");
    assertEquals((await served.result()).code, 0);
    assertNothingLeft(bed);
  });
} else Deno.test.ignore("README: what it types at a door (NOT RUN: no curl here)", () => {});
