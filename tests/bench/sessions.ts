import { join } from "@std/path";
import { fixture } from "../fixtures/build.ts";
import type { Programs } from "./programs.ts";
import type { TreeFindings, TreePart } from "./tree/main.ts";
import type { TreeRounds, TreeSetup } from "./tree/setup.ts";

/** Makes a home in which the guests are built, and says all of it to the tree program. */
export async function setUpTree(scratch: string, programs: Programs, rounds: TreeRounds): Promise<TreeSetup> {
  const folder = join(scratch, "sessions");
  const environment = {
    PATH: Deno.env.get("PATH") ?? "",
    HOME: folder,
    BOLL_HOME: join(folder, "home"),
    XDG_RUNTIME_DIR: join(folder, "run"),
  };
  for (const path of [folder, environment.XDG_RUNTIME_DIR]) Deno.mkdirSync(path, { mode: 0o700 });
  const guest = async (name: string) => {
    const path = await fixture(name);
    await run(programs.boll, ["run", "--dry-run", path], environment);
    return path;
  };
  return {
    programs,
    environment,
    guests: { hello: await guest("hello_stdio"), loop: await guest("loop"), block: await guest("block") },
    rounds,
  };
}

/** What the tree program finds of one part, in a process of its own. */
export async function measureTree<P extends TreePart>(
  part: P,
  tree: string,
  setup: TreeSetup,
): Promise<TreeFindings[P]> {
  return JSON.parse(await run(tree, [part, JSON.stringify(setup)], setup.environment));
}

async function run(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const command = new Deno.Command(program, { args: [...args], clearEnv: true, env: { ...env }, stdin: "null" });
  const { success, stdout, stderr } = await command.output();
  if (!success) throw new Error(`Run ${program} ${args[0]}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}
