/**
 * A model to try agents with by hand: `deno run -A tests/models/main.ts PLAYBOOK [--fault F]… [--thinks FIELD] [--port N]` prints its URL
 * and plays the playbook over both wires until it is interrupted.
 * @module
 */
import { type Fault, FAULTS, ModelServer } from "./model_server.ts";
import { THINKING, type Thinking } from "./thinking.ts";

const faults: Fault[] = [];
let [playbook, port, thinks]: [string | undefined, number, Thinking | undefined] = [undefined, 0, undefined];
for (let i = 0; i < Deno.args.length; i++) {
  const argument = Deno.args[i]!;
  if (argument === "--fault") faults.push(readOne("--fault", FAULTS, Deno.args[++i]));
  else if (argument === "--thinks") thinks = readOne("--thinks", THINKING, Deno.args[++i]);
  else if (argument === "--port") port = Number(Deno.args[++i]);
  else playbook = argument;
}
if (playbook === undefined) throw new Error("Start a model: found no playbook, wanted its path");
const { turns } = JSON.parse(Deno.readTextFileSync(playbook));
console.log(ModelServer.start({ turns, faults, port, ...(thinks === undefined ? {} : { thinks }) }).url);

function readOne<T extends string>(flag: string, known: readonly T[], text: string | undefined): T {
  const found = known.find((one) => one === text);
  if (found === undefined) throw new Error(`Read ${flag}: found ${text}, wanted one of ${known.join(", ")}`);
  return found;
}
