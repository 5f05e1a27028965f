/** A supervisor that is a subreaper; its session leaves a process behind and crashes. Its one argument is how. */
import { ProcessTree } from "../../hull/mod.ts";
import { isOwnProcess } from "../own_processes.ts";
import { SAY_READY, shellLaunch, WatchedTree } from "./tree_fixture.ts";

using processes = ProcessTree.open();
processes.becomeSubreaper();
let status: string;
{
  await using tree = new WatchedTree({ ports: { processes } });
  ({ status } = await tree.spawn(shellLaunch(`${SAY_READY}; ${Deno.args[0]}; kill -9 $$`)).ended);
}
while (processes.descendantsOf(Deno.pid).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
processes.reapAdopted(isOwnProcess);
console.log(JSON.stringify({ status, left: processes.adopted(isOwnProcess).length }));
