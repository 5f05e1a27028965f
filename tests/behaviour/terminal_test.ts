import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Bed, fixture, forExecutable } from "../harness.ts";
import { Terminal } from "../terminal.ts";

/** A shell with job control, so that boll is a job as it is for a person. */
function shell(bed: Bed): Terminal {
  return new Terminal(["bash", "--norc", "--noprofile", "-i"], {
    scratch: bed.root,
    cwd: bed.root,
    env: bed.environment({ PS1: "ready> ", HISTFILE: "/dev/null" }),
  });
}

async function probeLine(bed: Bed, source: string): Promise<string> {
  const words = bed.command(["run", await fixture("probe"), "--", source]);
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ") + "\n";
}

forExecutable("terminal: the guest's streams are the terminal", async (bed) => {
  const source = "[terminal.stdin(), terminal.stdout(), terminal.stderr()]";
  await using terminal = new Terminal(bed.command(["run", await fixture("probe"), "--", source]), {
    scratch: bed.root,
    cwd: bed.root,
    env: bed.environment(),
  });
  assertEquals(await terminal.end(), 0);
  assertStringIncludes(terminal.output.text, "[true,true,true]");
});

forExecutable(
  "terminal: Ctrl-D ends the guest's input, Ctrl-C the run, and the shell reads on afterwards",
  async (bed) => {
    await using terminal = shell(bed);
    await terminal.waitFor("ready> ");
    await terminal.type(await probeLine(bed, 'print("guest" + "-up"); return "got " + readStdin().length'));
    await terminal.waitFor("guest-up");
    await terminal.type("four\n\x04");
    // What is typed before the shell reads belongs to whoever has the terminal, and may be lost.
    await terminal.waitFor(/"got 5"[^]*ready> /);
    await terminal.type(await probeLine(bed, 'print("again" + "-up"); readStdin()'));
    await terminal.waitFor("again-up");
    await terminal.type("\x03");
    await terminal.waitFor(/interrupted[^]*ready> /);
    await terminal.type("echo code-$?\n");
    await terminal.waitFor(/code-130[^]*ready> /);
    await terminal.type('read line; echo "read $line"\n');
    await terminal.type("after\n");
    await terminal.waitFor("read after");
    await terminal.type("exit 0\n");
    assertEquals(await terminal.end(), 0);
  },
);

forExecutable("terminal: Ctrl-Z stops the whole job and fg brings it back", async (bed) => {
  const source =
    'print("guest" + "-up"); print("read " + stdin().blockingRead(100).length); return "then " + readStdin().length';
  await using terminal = shell(bed);
  await terminal.waitFor("ready> ");
  await terminal.type(await probeLine(bed, source));
  await terminal.waitFor("guest-up");
  await terminal.type("\x1a");
  await terminal.waitFor(/Stopped[^]*ready> /);
  await terminal.type("fg\nfour\n");
  // A Ctrl-D before the guest has the terminal back would be a character of the shell's.
  await terminal.waitFor("read 5");
  await terminal.type("\x04");
  await terminal.waitFor('"then 0"');
  await terminal.type("exit 0\n");
  assertEquals(await terminal.end(), 0);
});

forExecutable(
  "terminal: a foreign capsule shows its grants and asks once; a no runs nothing, a yes is remembered",
  async (bed) => {
    const manifest = { name: "asks", version: "0.1.0", component: "guest.wasm", grants: { env: ["LANG"] } };
    const folder = bed.folder("asks", { "capsule.jsonc": JSON.stringify(manifest) });
    Deno.copyFileSync(await fixture("hello_stdio"), `${folder}/guest.wasm`);
    const run = async (answer?: string) => {
      await using terminal = new Terminal(bed.command(["run", folder]), {
        scratch: bed.root,
        cwd: bed.root,
        env: bed.environment(),
      });
      if (answer !== undefined) {
        await terminal.waitFor("[y/N] ");
        await terminal.type(answer);
      }
      const code = await terminal.end();
      return { code, screen: terminal.output.text, ran: terminal.output.text.includes("hello from wasm") };
    };
    for (const no of ["n\n", "\n", "\x04", "yess\n"]) {
      const { code, screen, ran } = await run(no);
      assertEquals([code, ran], [5, false], screen);
      assertStringIncludes(screen, "LANG");
    }
    const accepted = await run("y\n");
    assertEquals([accepted.code, accepted.ran], [0, true], accepted.screen);
    const again = await run();
    assertEquals([again.code, again.ran, again.screen.includes("[y/N]")], [0, true, false], again.screen);
    Deno.writeTextFileSync(`${folder}/new.txt`, "changed");
    assertEquals((await run("n\n")).code, 5);
  },
);
