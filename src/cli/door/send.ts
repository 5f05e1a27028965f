import { CapsuleError, printableJson, printableLine } from "../../base/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { DOOR_NOTES, DOOR_OPTIONS, openDoorClient, tell } from "./ask_door.ts";
import type { Context, Verb } from "../verb.ts";

/** `boll send DOOR TEXT`: one message to an A2A agent, and what comes of it. */
export const verb: Verb = {
  name: "send",
  summary: "Send a message to an A2A agent",
  usage: "send DOOR TEXT|- [options]",
  operands: { min: 2, max: 2, names: ["DOOR", "TEXT"] },
  options: [
    { name: "stream", summary: "Print the answer as it comes" },
    { name: "no-wait", summary: "Print the task's id and do not wait for its end" },
    { name: "context", value: "ID", summary: "Go on in this context" },
    { name: "task", value: "ID", summary: "Answer the question of this task" },
    { name: "files", value: "DIR", summary: "Save the files that come back below DIR" },
    ...DOOR_OPTIONS,
  ],
  notes: [
    ...DOOR_NOTES,
    "The answer is on stdout, all else on stderr; - takes the text from stdin. Exits",
    "0 completed, 1 failed, 3 asking back, 4 unreachable, 5 refused, 130 canceled.",
    "",
    "  boll send summaries - --files ./out < notes.txt",
  ],
  run: runVerb,
};

/** What a door takes as a body; a message is a part of one. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;

async function runVerb(args: Arguments, context: Context): Promise<number> {
  const [wanted, operand] = args.operands as readonly [string, string];
  const text = operand === "-" ? await readText(context) : operand;
  const [contextId, taskId] = [args.value("context"), args.value("task")];
  using client = await openDoorClient(wanted, args, context);
  const message = {
    text,
    ...(contextId === undefined ? {} : { contextId }),
    ...(taskId === undefined ? {} : { taskId }),
  };
  const asJson = args.has("json");
  if (args.has("no-wait")) {
    const { task_id, context_id, state, reason } = await client.submit(message);
    const task = { task_id, context_id, state, ...(reason === undefined ? {} : { reason }) };
    context.stdout.write(`${asJson ? printableJson(task) : printableLine(task_id, 200)}\n`);
    if (state !== "rejected") return 0;
    throw new CapsuleError(
      "door.rejected",
      `Send: rejected${reason === undefined ? "" : `: ${printableLine(reason, 400)}`}`,
    );
  }
  const filesTo = args.value("files");
  return await tell(client.stream(message), context, {
    streams: args.has("stream"),
    asJson,
    ...(filesTo === undefined ? {} : { filesTo }),
  });
}

async function readText({ readInput }: Context): Promise<string> {
  const bytes = await readInput?.(MAX_TEXT_BYTES);
  if (bytes !== undefined) return new TextDecoder().decode(bytes);
  throw new CapsuleError("usage.bad_value", `Read stdin: found more than ${MAX_TEXT_BYTES} bytes, wanted a message`);
}
