import { CapsuleError, type Containment, printableLine } from "../../base/mod.ts";
import { type OperatorFlags, parseEnvFlag, parseMountFlag, parseNetFlag } from "../../grants/mod.ts";
import type { Arguments } from "./arguments.ts";
import type { Option } from "../verb.ts";

/** Flags about grants, shared by `run` and `explain`. */
export const GRANT_OPTIONS: readonly Option[] = [
  { name: "mount", value: "HOST:GUEST[:ro|rw]", repeatable: true, summary: "Show a folder to the guest" },
  { name: "env", value: "NAME[=VALUE]", repeatable: true, summary: "Pass a variable (own value when absent)" },
  { name: "net", value: "ENTRY", repeatable: true, summary: "Let it connect: https://host, tcp://host:port" },
  { name: "no-net", summary: "No network, whatever the manifest says" },
  { name: "work", value: "DIR", summary: "Use DIR as the guest's /workdir" },
  { name: "deadline", value: "DURATION", summary: "End the run after 500ms, 30s, 5m, 1h" },
  { name: "memory", value: "SIZE", summary: "Cap the guest's memory: 64m, 1g" },
  { name: "containment", value: "CLASS", summary: "Refuse to run below: advisory, scoped" },
];

/** The flag of the verbs that run something: {@link askForGrants}. */
export const ASK_OPTION: Option = {
  name: "ask",
  summary: "Ask at the start for each grant it lacks",
};

/**
 * Reads the grant flags of a call.
 * @throws `usage.bad_value` with all problems
 */
export function readGrantFlags(args: Arguments): OperatorFlags {
  const problems: string[] = [];
  const read = <Value>(flag: string, parse: (text: string) => Value): Value[] =>
    args.values(flag).flatMap((text) => {
      try {
        return [parse(text)];
      } catch (error) {
        if (!(error instanceof CapsuleError)) throw error;
        problems.push(error.message);
        return [];
      }
    });
  const mounts = read("mount", parseMountFlag);
  const env = read("env", parseEnvFlag);
  const net = read("net", parseNetFlag);
  if (args.has("no-net") && args.values("net").length > 0) {
    problems.push("Read --no-net: found --net too, wanted one of them");
  }
  const single = {
    containment: read("containment", parseContainment)[0],
    deadlineMs: [...read("deadline", parseDuration), ...read("task-timeout", readTaskTimeout)][0],
    memoryMb: read("memory", parseMemory)[0],
    work: args.value("work"),
    net: net.length === 0 ? undefined : net,
    noNet: args.has("no-net") || undefined,
  };
  if (problems.length === 1) throw new CapsuleError("usage.bad_value", problems[0]!);
  if (problems.length > 1) {
    throw new CapsuleError("usage.bad_value", `Read arguments: found ${problems.length} problems`, { problems });
  }
  return { mounts, env, ...withoutAbsent(single) };
}

/** A containment class. @throws `usage.bad_value` */
export function parseContainment(text: string): Containment {
  if (text === "advisory" || text === "scoped") return text;
  throw bad("containment", text, "advisory or scoped");
}

const MILLISECONDS: Readonly<Record<string, number>> = { "": 1, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const MAX_DURATION_MS = 2 ** 31 - 1;
/** The most that a session gives to one task. */
const MAX_TASK_MS = 3_600_000;

/** A duration in whole milliseconds: `500ms`, `1.5s`, `30s`, `5m`, `1h`; without a unit, milliseconds. @throws `usage.bad_value` */
export function parseDuration(text: string): number {
  const milliseconds = millisecondsOf(text);
  // A timer longer than this fires at once.
  if (milliseconds >= 1 && milliseconds <= MAX_DURATION_MS) return milliseconds;
  throw bad("deadline", text, "a duration from 1ms to 24 days, as in 500ms, 30s, 5m");
}

/** The deadline of each task, of a verb that does one after the other; no session gives one longer. */
function readTaskTimeout(text: string): number {
  const milliseconds = millisecondsOf(text);
  if (milliseconds >= 1 && milliseconds <= MAX_TASK_MS) return milliseconds;
  throw bad("task-timeout", text, "a duration from 1ms to 1h, as in 500ms, 30s, 5m");
}

/** No number where the text is no duration. */
function millisecondsOf(text: string): number {
  const [, amount, unit] = /^(\d{1,12}(?:\.\d{1,3})?)(ms|s|m|h)?$/.exec(text) ?? [];
  return Math.round(Number(amount) * MILLISECONDS[unit ?? ""]!);
}

const MEBIBYTES: Readonly<Record<string, number>> = { m: 1, g: 1024 };

/** A memory size in whole MiB: `64`, `64m`, `64MiB`, `1g`. @throws `usage.bad_value` */
export function parseMemory(text: string, flag = "memory"): number {
  const [, amount, unit] = /^(\d{1,7})(?:([mg])(?:i?b)?)?$/i.exec(text) ?? [];
  const mebibytes = Number(amount) * MEBIBYTES[unit?.toLowerCase() ?? "m"]!;
  if (mebibytes >= 1 && mebibytes <= 1024 * 1024) return mebibytes;
  throw bad(flag, text, "a size from 1m to 1024g, as in 64m, 1g");
}

function bad(flag: string, found: string, wanted: string): CapsuleError {
  return new CapsuleError("usage.bad_value", `Read --${flag}: found "${printableLine(found, 80)}", wanted ${wanted}`);
}

type Present<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

function withoutAbsent<Fields extends object>(fields: Fields): Present<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>;
}
