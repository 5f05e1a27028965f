import type { ProgramName } from "./programs.ts";

/** The parts of the bench, in their order, and what is compiled for each beside `dist/boll`. */
export const PARTS = {
  "start-up": ["bollWithoutHull", "empty"],
  operations: ["rawFileOperations"],
  services: ["plainServer"],
  outgoing: ["plainServer", "plainRequests"],
  doors: ["doorServer", "sdkServer"],
  sessions: ["tree", "empty"],
  crowds: ["tree", "empty", "idle"],
  frames: ["tree", "frameChild"],
  results: ["tree"],
  home: [],
  tools: [],
  agents: ["empty", "idle"],
} as const satisfies Record<string, readonly ProgramName[]>;

/** The name of a part. */
export type Part = keyof typeof PARTS;

/** The parts that `--only=PART[,PART…]` names; all when it is not there. @throws Error naming what there is */
export function partsOf(args: readonly string[]): ReadonlySet<Part> {
  const all = Object.keys(PARTS) as Part[];
  const asked = args.find((arg) => /^--only(=|$)/.test(arg));
  if (asked === undefined) return new Set(all);
  const names = asked.slice("--only=".length).split(",");
  const unknown = names.find((name) => !all.some((part) => part === name));
  if (unknown === undefined) return new Set(all.filter((part) => names.includes(part)));
  throw new Error(`Read --only=: found "${unknown}", wanted some of ${all.join(",")}`);
}

/** The programs that those parts need. */
export function programsFor(parts: ReadonlySet<Part>): ReadonlySet<ProgramName> {
  return new Set([...parts].flatMap((part): readonly ProgramName[] => PARTS[part]));
}
