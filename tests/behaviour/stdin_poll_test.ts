import { assertEquals } from "@std/assert";
import { type Bed, fixture, forEachMode } from "../harness.ts";

/** A guest that waits for stdin beside a timer in vain, says so, then reads held up; then the same again. */
const SOURCE = `
  const input = stdin();
  const pollable = input.subscribe();
  const wait = () => [...poll.poll([pollable, monotonicClock.subscribeDuration(20000000)])];
  const said = [];
  for (const word of ["first", "second", "third"]) {
    said.push(wait());
    print(word);
    try {
      for (let text = ""; !text.endsWith("\\n");) {
        text += String.fromCharCode(...input.blockingRead(4));
        if (text.endsWith("\\n")) said.push(text);
      }
    } catch (error) {
      said.push(error.payload?.tag ?? String(error));
    }
  }
  return said;
`;

/** Runs the guest; each of its words is answered by a line, the last by the end of stdin. */
async function converse(bed: Bed, answers: readonly string[]): Promise<unknown> {
  Deno.mkdirSync(`${bed.root}/data`);
  const flags = ["--mount", `${bed.root}/data:/data:ro`]; // so that the guest has a thread of its own
  const [program = "", ...args] = bed.command(["run", await fixture("probe"), ...flags, "--", SOURCE]);
  const options = { args, clearEnv: true, env: bed.environment(), stdin: "piped", stdout: "piped" } as const;
  const running = new Deno.Command(program, options).spawn();
  const input = running.stdin.getWriter();
  const lines = running.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const waitFor = async (word: string) => {
    while (!text.includes(`${word}\n`)) {
      const { value, done } = await lines.read();
      if (done) throw new Error(`Wait for ${word}: found the end after ${text}`);
      text += value;
    }
  };
  for (const [index, word] of ["first", "second", "third"].entries()) {
    await waitFor(word);
    if (answers[index] === undefined) await input.close();
    else await input.write(new TextEncoder().encode(answers[index]));
  }
  for (let read = await lines.read(); !read.done; read = await lines.read()) text += read.value;
  assertEquals((await running.status).code, 0);
  return JSON.parse(text.trim().split("\n").at(-1)!);
}

forEachMode("run: a guest that waited for stdin in vain can read it held up, nothing lost or doubled", async (bed) => {
  assertEquals(await converse(bed, ["eins\n", "zwei und mehr\n"]), [
    [1],
    "eins\n",
    [1],
    "zwei und mehr\n",
    [1],
    "closed",
  ]);
});
