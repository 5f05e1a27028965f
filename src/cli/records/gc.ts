import { CapsuleError, printable, printableJson, printableLine } from "../../base/mod.ts";
import {
  collectGarbage,
  type GarbageReport,
  type Home,
  markCrashed,
  openHome,
  removeTrees,
  runtimeFolder,
} from "../../records/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { Progress } from "../text/progress.ts";
import { byteSize, counted } from "../text/quantities.ts";
import type { Context, Verb } from "../verb.ts";

/** `boll gc`: removes old sessions, unused cached components, and what dead processes left. */
export const verb: Verb = {
  name: "gc",
  summary: "Remove old sessions and leftovers",
  usage: "gc [options]",
  operands: { min: 0, max: 0, names: [] },
  options: [
    { name: "older-than", value: "DURATION", summary: "Ended longer ago: 12h, 30d (the default), 0" },
    { name: "keep", value: "N", summary: "Keep the N newest sessions, however old" },
    { name: "dry-run", summary: "Say what would go, remove nothing" },
    { name: "json", summary: "Print JSON" },
  ],
  notes: [
    "With --keep alone, all but the N newest go. What no run used for as long goes",
    "from the cache, and so does what dead runs left; what a living run owns stays.",
    "",
    "  boll gc --keep 100 --dry-run",
  ],
  async run(args, context) {
    const rules = readRules(args);
    const home = openHome(context.readVariable);
    markCrashed(home);
    const report = await collect(home, rules, context);
    context.stdout.write(args.has("json") ? printableJson(report) + "\n" : reportText(report));
    for (const { path, reason } of report.failed) {
      context.stderr.write(`boll: warning: ${printable(`Remove ${path}: ${reason}`)}\n`);
    }
    return report.failed.length === 0 ? 0 : 1;
  },
};

/** Takes everything from its readers first, which is quick, and removes it then: whoever ends it half-way loses nothing. */
async function collect(home: Home, rules: GcRules, context: Context): Promise<GarbageReport> {
  using progress = new Progress(context.stderr, "removing");
  const gone: string[] = [];
  const later = (path: string) => progress.show(`${gone.push(path)} so far`);
  const report = collectGarbage(home, { ...rules, later, runtimeFolder: runtimeFolder(context.readVariable) });
  const failed = await removeTrees(gone, (count) => progress.show(`${count} of ${gone.length}`));
  return { ...report, failed: [...report.failed, ...failed] };
}

interface GcRules {
  readonly keep?: number;
  readonly olderThanMs?: number;
  readonly dryRun: boolean;
}

function readRules(args: Arguments): GcRules {
  const keep = args.value("keep");
  const olderThan = args.value("older-than");
  if (keep !== undefined && !/^\d{1,9}$/.test(keep)) throw bad("keep", keep, "a number, 0 or more");
  return {
    dryRun: args.has("dry-run"),
    ...(keep === undefined ? {} : { keep: Number(keep) }),
    ...(olderThan === undefined ? {} : { olderThanMs: parseAge(olderThan) }),
  };
}

const MILLISECONDS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** An age in milliseconds: `0`, `90s`, `30m`, `12h`, `30d`. @throws `usage.bad_value` */
export function parseAge(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (text === "0") return 0;
  if (amount === undefined) throw bad("older-than", text, "an age, as in 0, 30m, 12h, 30d");
  return Number(amount) * MILLISECONDS[unit!]!;
}

function bad(flag: string, found: string, wanted: string): CapsuleError {
  return new CapsuleError("usage.bad_value", `Read --${flag}: found "${printableLine(found, 40)}", wanted ${wanted}`);
}

function reportText({ dry_run, sessions, cache, temporary, leftovers }: GarbageReport): string {
  const rows: readonly [string, { readonly removed: number; readonly bytes: number }, string][] = [
    ["session", sessions, `${sessions.kept} kept${sessions.running === 0 ? "" : `, ${sessions.running} running`}`],
    ["cached component", cache, `${cache.kept} kept`],
    ["temporary folder", temporary, `${temporary.kept} in use`],
    ["leftover", leftovers, `${leftovers.kept} maybe in use`],
  ];
  const verbWord = dry_run ? "would remove" : "removed";
  const lines = rows.map(([noun, { removed, bytes }, rest]) => {
    const size = removed === 0 ? "" : ` (${byteSize(bytes)})`;
    return `${verbWord} ${counted(removed, noun)}${size}, ${rest}\n`;
  });
  return lines.join("");
}
