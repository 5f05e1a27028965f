import { assertEquals } from "@std/assert";
import { Terminal } from "./terminal.ts";

const options = (scratch: string) => ({ scratch, cwd: scratch, env: { PATH: "/usr/local/bin:/usr/bin:/bin" } });

async function inScratch(body: (scratch: string) => Promise<void>): Promise<void> {
  const scratch = Deno.makeTempDirSync({ prefix: "boll-test-" });
  try {
    await body(scratch);
  } finally {
    Deno.removeSync(scratch, { recursive: true });
  }
}

Deno.test("Terminal: stdin, stdout and stderr are one terminal, and the command's exit code comes through", async () => {
  await inScratch(async (scratch) => {
    const script = "test -t 0 && test -t 1 && test -t 2 && echo 'a terminal'; exit 7";
    await using terminal = new Terminal(["sh", "-c", script], options(scratch));
    assertEquals(await terminal.end(), 7);
    assertEquals(terminal.output.text, "a terminal\r\n");
  });
});

Deno.test("Terminal: Ctrl-C interrupts the command, Ctrl-D ends its input", async () => {
  await inScratch(async (scratch) => {
    await using interrupted = new Terminal(["sh", "-c", "echo up; exec sleep 1000"], options(scratch));
    await interrupted.waitFor("up");
    await interrupted.type("\x03");
    assertEquals(await interrupted.end(), 130);
    await using ended = new Terminal(["sh", "-c", "cat; echo over"], options(scratch));
    await ended.type("typed\n");
    await ended.waitFor("typed\r\n");
    await ended.type("\x04");
    await ended.waitFor("over");
    assertEquals(await ended.end(), 0);
  });
});
