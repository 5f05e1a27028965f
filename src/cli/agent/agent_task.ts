import { CapsuleError, printableLine } from "../../base/mod.ts";
import { readText } from "../../manifest/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import type { Context } from "../verb.ts";

/** A longer task is refused, bytes. */
const MAX_TASK_BYTES = 1024 * 1024;

/** The flag that names a file with an agent's task. */
export const TASK_FILE = { name: "task-file", value: "FILE", summary: "Read an agent's task from FILE" } as const;

/** One task is one argument, and flags come before it. @throws `usage.unexpected_argument` */
export function refuseTwoTasks({ rest }: Arguments): void {
  if (rest.length <= 1) return;
  const flag = rest.slice(1).find((word) => word.startsWith("--"));
  const fix = flag === undefined
    ? "write it as one, in quotes"
    : `flags like ${printableLine(flag, 40)} come before it`;
  throw new CapsuleError("usage.unexpected_argument", `Read the task: found ${rest.length} arguments; ${fix}`);
}

/**
 * What an agent is to do: the one argument after its name, `-` for standard input, or `--task-file`.
 * @throws `usage.*`
 */
export async function readTask(args: Arguments, capsule: string, context: Context): Promise<string> {
  const { rest } = args;
  const file = args.value(TASK_FILE.name);
  refuseTwoTasks(args);
  if (file !== undefined && rest.length > 0) {
    throw new CapsuleError(
      "usage.unexpected_argument",
      "Read the task: found one beside --task-file, give one of them",
    );
  }
  const text = file !== undefined
    ? readText(file, { code: "usage.bad_value", maxBytes: MAX_TASK_BYTES }).text
    : rest[0] === "-"
    ? await readStdin(context)
    : rest[0];
  if (text === undefined) {
    throw new CapsuleError(
      "usage.missing_argument",
      `Read the task: found none; boll run ${
        printableLine(capsule, 80)
      } "what to do", - for stdin, or --task-file FILE`,
    );
  }
  if (text.trim() === "") throw new CapsuleError("usage.bad_value", "Read the task: found nothing but spaces in it");
  return text;
}

/** A command's words are its guest's own. @throws `usage.bad_value` */
export function refuseTaskFile(args: Arguments, capsule: string): void {
  if (!args.has(TASK_FILE.name)) return;
  throw new CapsuleError(
    "usage.bad_value",
    `Read --task-file: ${printableLine(capsule, 80)} is no agent; what it is told follows its name`,
  );
}

async function readStdin({ readInput }: Context): Promise<string> {
  const bytes = await readInput?.(MAX_TASK_BYTES);
  if (bytes === undefined) {
    throw new CapsuleError(
      "usage.bad_value",
      `Read stdin: found more than the allowed ${MAX_TASK_BYTES} bytes of a task`,
    );
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new CapsuleError("usage.bad_value", "Read stdin: found a task that is not UTF-8");
  }
}
