/**
 * A model to try agents with by hand: `deno run -A tests/models/main.ts PLAYBOOK [--fault F]… [--port N]` prints its URL
 * and plays the playbook over both wires until it is interrupted.
 * @module
 */
import { type Fault, FAULTS, ModelServer } from "./model_server.ts";

const faults: Fault[] = [];
let [playbook, port]: [string | undefined, number] = [undefined, 0];
for (let i = 0; i < Deno.args.length; i++) {
  const argument = Deno.args[i]!;
  if (argument === "--fault") faults.push(readFault(Deno.args[++i]));
  else if (argument === "--port") port = Number(Deno.args[++i]);
  else playbook = argument;
}
if (playbook === undefined) throw new Error("Start a model: found no playbook, wanted its path");
const { turns } = JSON.parse(Deno.readTextFileSync(playbook));
console.log(ModelServer.start({ turns, faults, port }).url);

function readFault(text: string | undefined): Fault {
  const fault = FAULTS.find((fault) => fault === text);
  if (fault === undefined) throw new Error(`Read --fault: found ${text}, wanted one of ${FAULTS.join(", ")}`);
  return fault;
}
