import { CapsuleError, isId, printableJson, printableLine } from "../../base/mod.ts";
import { openHome } from "../../records/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { DOOR_NOTES, DOOR_OPTIONS, openDoorClient } from "./ask_door.ts";
import { onlyDoor } from "./token.ts";
import type { Context, Verb } from "../verb.ts";

/** `boll cancel DOOR TASK`: ends a task and all that it started. */
export const verb: Verb = {
  name: "cancel",
  summary: "Cancel a task of an A2A agent",
  usage: "cancel [DOOR] TASK [options]",
  operands: { min: 0, max: 2, names: ["DOOR", "TASK"] },
  options: DOOR_OPTIONS,
  notes: [...DOOR_NOTES, "Without one it is the only door that is open here."],
  run: runVerb,
};

async function runVerb(args: Arguments, context: Context): Promise<number> {
  const [first, second] = args.operands as readonly [string?, string?];
  if (first === undefined) throw refuse("none");
  const isAlone = second === undefined && isId(first, "tsk");
  const wanted = isAlone ? onlyDoor(openHome(context.readVariable)).name : first;
  const taskId = isAlone ? first : second;
  if (taskId === undefined) throw refuse(`"${printableLine(first, 80)}" alone`);
  using client = await openDoorClient(wanted, args, context);
  const { task_id, context_id, state, reason } = await client.cancel(taskId);
  const task = { task_id, context_id, state, ...(reason === undefined ? {} : { reason }) };
  context.stdout.write(`${args.has("json") ? printableJson(task) : `${state} ${printableLine(task_id, 200)}`}\n`);
  return 0;
}

function refuse(found: string): CapsuleError {
  const wanted = "wanted [DOOR] and a task's whole id, tsk_…";
  return new CapsuleError("usage.missing_argument", `Read TASK: found ${found}, ${wanted}; see \`boll cancel --help\``);
}
