/** A loop's thread that has been taken over tries what it may not. Only a variant executable holds this module. */
import { CapsuleError } from "../../../src/base/mod.ts";
import type { Intelligence } from "../../../src/protocol/control/mod.ts";

const MARK = "//attack ";

/** The name of a model that makes its thread try all of it, with this port that nobody granted. */
export function loopAttackOn(port: number): string {
  return MARK + port;
}

/** What each attempt came to: `done`, or the name of its error. Said as the reason why there is no model. */
export async function attackFromLoop({ uri, model = "" }: Pick<Intelligence, "uri" | "model">): Promise<void> {
  if (!model.startsWith(MARK)) return;
  const port = Number(model.slice(MARK.length));
  const attempts: Record<string, () => unknown> = {
    "ask the model": async () => await (await fetch(uri)).body?.cancel(),
    "ask another port": async () => await (await fetch(`http://127.0.0.1:${port}/`)).body?.cancel(),
    "connect elsewhere": async () => (await Deno.connect({ hostname: "127.0.0.1", port })).close(),
    "listen": () => Deno.listen({ hostname: "127.0.0.1", port: 0 }).close(),
    "read a file": () => Deno.readTextFileSync("/etc/passwd"),
    "write a file": () => Deno.removeSync(Deno.makeTempFileSync({ dir: "/tmp" })),
    "start a program": async () => await new Deno.Command("/bin/true", { clearEnv: true }).output(),
    "read the environment": () => Deno.env.get("PATH"),
    "call a library": () => Deno.dlopen("libc.so.6", {}).close(),
  };
  const found: Record<string, string> = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
      found[name] = "done";
    } catch (error) {
      found[name] = (error as Error).name;
    }
  }
  throw new CapsuleError("internal", JSON.stringify(found));
}
