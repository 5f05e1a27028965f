import { CapsuleError } from "../base/mod.ts";
import { type ReadArguments, readArguments, usageError } from "./options/arguments.ts";
import { processContext } from "./process_context.ts";
import { reportError } from "./report_error.ts";
import { type Context, EXIT_STDOUT_CLOSED, StdoutClosed, type Verb } from "./verb.ts";

/**
 * The command line: arguments in, exit status out. Loads the one verb that was asked for; prints every failure as
 * `boll: …`, never a stack.
 */
export async function main(argv: readonly string[], context: Context = processContext()): Promise<number> {
  // Until the verb is known, and with it which arguments are a guest's.
  let wantsJson = argv.includes("--json");
  try {
    context.prepare?.();
    const [name, ...rest] = argv;
    const verb = await loadVerb(name);
    if (verb === undefined) return await overview(name, context);
    const read = readArguments(verb, rest);
    wantsJson = read.wantsJson;
    return await call(verb, read, context);
  } catch (error) {
    if (error instanceof StdoutClosed) return EXIT_STDOUT_CLOSED;
    return reportError(error, context, { json: wantsJson, isRun: argv[0] === "run" });
  }
}

async function call(verb: Verb, read: ReadArguments, context: Context): Promise<number> {
  if (read.wantsHelp) {
    const { verbHelp } = await import("./about/help_text.ts");
    context.stdout.write(verbHelp(verb));
    return 0;
  }
  if (read.problems.length > 0) throw usageError(verb.name, read.problems);
  return await verb.run(read.args, context);
}

async function loadVerb(name: string | undefined): Promise<Verb | undefined> {
  if (name === undefined || name === "--help" || name === "-h") return undefined;
  // The main job is loaded without the table of all the others.
  if (name === "run") return (await import("./run/run.ts")).verb;
  const { findVerb } = await import("./about/help.ts");
  const wanted = name === "--version" || name === "-V" ? "version" : name;
  return (await findVerb(wanted).load()).verb;
}

async function overview(name: string | undefined, context: Context): Promise<number> {
  const { overviewHelp } = await import("./about/help_text.ts");
  if (name !== undefined) {
    context.stdout.write(overviewHelp());
    return 0;
  }
  context.stderr.write(overviewHelp() + "\n");
  throw new CapsuleError("usage.missing_argument", "Read verb: found none; see `boll --help`");
}
