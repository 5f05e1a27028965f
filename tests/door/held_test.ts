import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";

const PROGRAM = join(import.meta.dirname!, "held_door.ts");
/** Code that the engine improves while it runs would be counted as held. */
const FLAGS = "--expose-gc,--no-opt,--no-maglev,--no-sparkplug,--no-lazy-feedback-allocation";
const ROUNDS = 100;
/** Less than one id that is kept in a set; what is found is 4 at most. */
const MOST_BYTES = 16;

for (const where of ["memory", "a folder"]) {
  Deno.test(`tasks in ${where}: nothing is held of one that has ended and went, nor of a question for one that never was`, async () => {
    const folder = where === "memory" ? undefined : Deno.makeTempDirSync();
    try {
      const { code, stdout } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--quiet", "--allow-all", "--no-check", "--frozen", `--v8-flags=${FLAGS}`],
          ...[PROGRAM, String(ROUNDS), ...(folder === undefined ? [] : [folder])],
        ],
        stdin: "null",
        stderr: "inherit",
      }).output();
      assertEquals(code, 0);
      const [task, question] = JSON.parse(new TextDecoder().decode(stdout));
      assert(task < MOST_BYTES, `${task} bytes are held of a task that has ended`);
      assert(question < MOST_BYTES, `${question} bytes are held of a question for an unknown task`);
    } finally {
      if (folder !== undefined) Deno.removeSync(folder, { recursive: true });
    }
  });
}
