/** Becomes a subreaper, lets a child leave a process behind, and says what it then sees; its one argument is a folder. */
import { ProcessTree } from "./process_tree.ts";

const [folder] = Deno.args;
using tree = ProcessTree.open();
tree.becomeSubreaper();
const script = `setsid sh -c 'echo $$ > ${folder}/pid; mv ${folder}/pid ${folder}/away; exec sleep 63' & wait`;
const child = new Deno.Command("/bin/sh", { args: ["-c", script], stdout: "null", stderr: "null" }).spawn();
const isOwn = (pid: number) => pid === child.pid;

async function until<T>(look: () => T | undefined): Promise<T> {
  for (let seen = look();; seen = look()) {
    if (seen !== undefined) return seen;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const away = await until(() => {
  try {
    return Number(Deno.readTextFileSync(`${folder}/away`));
  } catch {
    return undefined;
  }
});
const before = tree.descendantsOf(child.pid).map(({ pid }) => pid);
const adoptedBefore = tree.adopted(isOwn).length;
child.kill("SIGKILL");
const { signal } = await child.status;
const adopted = await until(() => tree.adopted(isOwn).find(({ pid }) => pid === away));
const reapedBefore = tree.reapAdopted(isOwn);
Deno.kill(away, "SIGKILL");
await until(() => tree.isAlive(adopted) ? undefined : true);
const reaped = await until(() => tree.reapAdopted(isOwn) || undefined);
const left = tree.adopted(isOwn).length;
const own = new Deno.Command("/bin/true", { stdout: "null", stderr: "null" }).spawn();
// The runtime waits for it only when this thread lets it: until then it is dead and still there.
while (tree.descendantsOf(Deno.pid).some(({ pid }) => pid === own.pid));
const taken = tree.reapAdopted((pid) => pid === own.pid);
const { success } = await own.status;
const seen = before.includes(away);
console.log(JSON.stringify({ seen, adoptedBefore, signal, reapedBefore, reaped, left, taken, success }));
