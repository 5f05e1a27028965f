import { printable } from "../../base/mod.ts";
import { findSession, listLogs, omittedBytes, openHome, readLog, type SessionLog } from "../../records/mod.ts";
import { byteSize } from "../text/quantities.ts";
import type { Context, Verb } from "../verb.ts";

/** What is shown of a long log when nothing else is said, bytes. */
const TAIL_BYTES = 1024 * 1024;

/** `boll logs [SESSION|last]`: what a session logged, made safe for a terminal. */
export const verb: Verb = {
  name: "logs",
  summary: "Print what a session logged",
  usage: "logs [SESSION|last] [options]",
  operands: { min: 0, max: 1, names: ["SESSION"] },
  options: [{ name: "all", summary: "All of a long log, not only its end" }],
  notes: [
    "SESSION is an id, a prefix of one that is unique (4 characters or more), or last",
    "(the default). A run in the foreground logs nothing: its output is yours.",
  ],
  run(args, context) {
    const paths = findSession(openHome(context.readVariable), args.operands[0] ?? "last");
    const logs = listLogs(paths);
    if (logs.length === 0) context.stderr.write(`boll: ${paths.id} has no logs\n`);
    for (const [index, log] of logs.entries()) {
      if (logs.length > 1) context.stdout.write(`${index === 0 ? "" : "\n"}==> ${log.name} <==\n`);
      print(log, args.has("all") ? Infinity : TAIL_BYTES, context);
    }
    return Promise.resolve(0);
  },
};

function print(log: SessionLog, tailBytes: number, context: Context): void {
  const omitted = omittedBytes(log.path, tailBytes);
  if (omitted > 0) {
    context.stderr.write(`boll: the first ${byteSize(omitted)} of ${log.name} are not shown; --all shows everything\n`);
  }
  const decoder = new TextDecoder();
  let last = "\n";
  const write = (text: string) => {
    if (text === "") return;
    context.stdout.write(printable(text));
    last = text.at(-1)!;
  };
  for (const chunk of readLog(log.path, tailBytes)) write(decoder.decode(chunk, { stream: true }));
  write(decoder.decode());
  if (last !== "\n") context.stdout.write("\n");
}
