import { assertEquals } from "@std/assert";
import { Bed, fixture } from "../harness.ts";
import { Terminal } from "../terminal.ts";
import { LIBC } from "./libc_source.ts";
import { buildVariant, startBundler } from "./variant/build.ts";

await startBundler();

const TYPES = `//injected
  ${LIBC}
  try { return kernel("ioctl", 0, 0x5412, "Z"); } catch (error) { return error.errno ?? error.name; }`;

/** What the shell reads that stands behind a run of injected code which types a letter into its terminal. */
async function readBehind(bed: Bed, variant: string, walls: string): Promise<string> {
  const run = [variant, "run", await fixture("ok"), "--mount", `${bed.folder("data")}:/data:ro`, "--", TYPES];
  await using terminal = new Terminal(
    ["sh", "-c", '"$@"; echo ended; read -r line; echo "read:[$line]"', "sh", ...run],
    {
      scratch: bed.root,
      cwd: bed.root,
      env: bed.environment({ BOLL_TEST_STANDING_WALLS: walls }),
    },
  );
  await terminal.waitFor("ended");
  await terminal.type("\n");
  const [, line = ""] = /read:\[(.*)\]/.exec(await terminal.waitFor(/read:\[.*\]/)) ?? [];
  return line;
}

Deno.test({
  name: "escape: nothing is typed into the terminal that a run was granted, behind walls 2 and 4 each alone [binary]",
  ignore: Deno.uid() !== 0, // a kernel may leave it to root, and then nothing shows that a wall refused it
  fn: async () => {
    const variant = await buildVariant();
    await using bed = new Bed("binary");
    const read = [];
    for (const walls of ["", "3", "2", "4", "1234"]) read.push(await readBehind(bed, variant, walls));
    assertEquals(read, ["Z", "Z", "", "", ""]);
  },
});
