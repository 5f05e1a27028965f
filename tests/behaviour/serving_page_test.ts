/** The lines of docs/serving.md on a door, run as they stand there. */
import { assertEquals, assertMatch } from "@std/assert";
import { dirname } from "@std/path";
import { forMode, REPOSITORY } from "../harness.ts";
import { assertNothingLeft } from "../process/leftovers.ts";
import { consolesOf, patternOf } from "./shown_console.ts";

const PATH = Deno.env.get("PATH") ?? "";
const hasCurl = PATH.split(":").some((folder) => {
  try {
    return Deno.statSync(`${folder}/curl`).isFile;
  } catch {
    return false;
  }
});

if (hasCurl) {
  forMode("binary", "docs/serving.md: what it types at a door, curl too, does what it shows", async (bed) => {
    const [serving, ...rest] = consolesOf("docs/serving.md", "Serve")[0]!;
    assertEquals(rest.filter(({ command }) => command.startsWith("curl ")).length, 2);
    const [boll = "", ...more] = bed.command([]);
    assertEquals(more, []);
    const options = { cwd: REPOSITORY, env: { PATH: `${dirname(boll)}:${PATH}` } };
    const served = bed.startCommand(["sh", "-c", `exec ${serving!.command.replace(/ &$/, "")}`], options);
    const said = await served.stderr.waitFor("`boll token counter`\n");
    assertMatch(said, patternOf(serving!.output, { numbers: true }));
    const addressIn = (text: string) => /http:\/\/127\.0\.0\.1:\d+\//.exec(text)![0];
    const script = rest.map(({ command }) => `echo; echo '--8<--'\n${command}\n`).join("")
      .replaceAll(addressIn(serving!.output), addressIn(said));
    const typed = bed.startCommand(["sh", "-ec", script], options);
    const { code, stdout, stderr } = await typed.result();
    assertEquals(code, 0, stderr);
    const outputs = stdout.split("\n--8<--\n").slice(1);
    assertEquals(outputs.length, rest.length);
    for (const [at, { output }] of rest.entries()) assertMatch(outputs[at]!, patternOf(output, { numbers: true }));
    served.child.kill("SIGINT");
    assertEquals((await served.result()).code, 0);
    assertNothingLeft(bed);
  });
} else Deno.test.ignore("docs/serving.md: what it types at a door (NOT RUN: no curl here)", () => {});
