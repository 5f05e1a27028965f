import { CapsuleError, printableLine } from "../../base/mod.ts";
import type { DoorClient } from "../../door/client/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { DOOR_NOTES, DOOR_OPTIONS, openDoorClient, tell } from "./ask_door.ts";
import type { Context, Verb } from "../verb.ts";

/** `boll watch DOOR [TASK]`: what becomes of a task that somebody sent. */
export const verb: Verb = {
  name: "watch",
  summary: "Follow a task of an A2A agent",
  usage: "watch DOOR [TASK] [options]",
  operands: { min: 1, max: 2, names: ["DOOR", "TASK"] },
  options: [
    { name: "files", value: "DIR", summary: "Save the files that come back below DIR" },
    ...DOOR_OPTIONS,
  ],
  notes: [
    ...DOOR_NOTES,
    "Without TASK it is the one that runs. Of one that has ended, its answer is",
    "printed. Exits as `boll send` does.",
  ],
  run: runVerb,
};

/** So many of the newest tasks are looked at for one that runs. */
const NEWEST = 100;

async function runVerb(args: Arguments, context: Context): Promise<number> {
  const [wanted, task] = args.operands;
  using client = await openDoorClient(wanted!, args, context);
  const taskId = task ?? await runningTask(client, wanted!);
  const filesTo = args.value("files");
  return await tell(client.watch(taskId), context, {
    streams: true,
    asJson: args.has("json"),
    ...(filesTo === undefined ? {} : { filesTo }),
  });
}

/** @throws `door.unknown_task` */
async function runningTask(client: DoorClient, wanted: string): Promise<string> {
  const tasks = [...await client.list(NEWEST)].sort((a, b) => a.task_id < b.task_id ? -1 : 1);
  const running = tasks.find(({ state }) => state === "working" || state === "input_required") ??
    tasks.find(({ state }) => state === "submitted");
  if (running !== undefined) return running.task_id;
  const last = tasks.at(-1);
  const hint = last === undefined ? "" : `; the last was ${printableLine(last.task_id, 80)}, ${last.state}`;
  throw new CapsuleError("door.unknown_task", `Watch ${printableLine(wanted, 80)}: no task runs there${hint}`);
}
