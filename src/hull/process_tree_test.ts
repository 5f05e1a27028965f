import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { ProcessTree } from "./mod.ts";

const FIXTURE = fromFileUrl(new URL("./process_tree_fixture.ts", import.meta.url));
const CONFIG = fromFileUrl(new URL("../../deno.json", import.meta.url));
/** The executable's own permissions, without `--allow-all`. */
const FLAGS = ["--allow-read", "--allow-write", "--allow-env", "--allow-run", "--allow-ffi", "--allow-sys"];
const ignore = Deno.build.os !== "linux";

Deno.test({
  name:
    "ProcessTree: what has moved away from its parent is seen, adopted when that dies, and reaped; what is own is not",
  ignore,
  async fn() {
    const folder = Deno.makeTempDirSync({ prefix: "boll" });
    try {
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--no-prompt",
          "--no-check",
          "--cached-only",
          "--quiet",
          `--config=${CONFIG}`,
          ...FLAGS,
          FIXTURE,
          folder,
        ],
      }).output();
      assertEquals(new TextDecoder().decode(stderr), "");
      assertEquals(JSON.parse(new TextDecoder().decode(stdout)), {
        seen: true,
        adoptedBefore: 0,
        signal: "SIGKILL",
        reapedBefore: 0,
        reaped: 1,
        left: 0,
        taken: 0,
        success: true,
      });
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  },
});

Deno.test({
  name:
    "ProcessTree: a process that is no subreaper adopts nothing, and a number alone is not the process that was seen",
  ignore,
  async fn() {
    using tree = ProcessTree.open();
    const child = new Deno.Command("/bin/sleep", { args: ["60"], stdout: "null", stderr: "null" }).spawn();
    try {
      const [seen] = tree.descendantsOf(Deno.pid).filter(({ pid }) => pid === child.pid);
      assert(seen && tree.isAlive(seen));
      assertEquals([tree.isAlive({ ...seen, started: "0" }), tree.adopted(() => false)], [false, []]);
      child.kill("SIGKILL");
      await child.status;
      assertEquals([tree.isAlive(seen), tree.descendantsOf(child.pid)], [false, []]);
    } finally {
      await child.status;
    }
  },
});
