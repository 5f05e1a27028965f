import { CapsuleError } from "../base/mod.ts";
import { GRANT_OPTIONS, readGrantFlags, REFUSED_GRANT_FLAGS } from "./grant_flags.ts";
import type { Verb } from "./verb.ts";

/** `boll run CAPSULE [options] [--] ARGS`. */
export const verb: Verb = {
  name: "run",
  summary: "Run a capsule behind its walls",
  usage: "run CAPSULE [options] [--] [ARGS]",
  operands: { min: 1, max: 1, rest: true, names: ["CAPSULE"] },
  options: [
    ...GRANT_OPTIONS,
    { name: "accept", summary: "Accept a foreign capsule's grants, and remember it" },
    { name: "dry-run", summary: "Check and build everything, run nothing" },
    { name: "json", summary: "End with one JSON object on stderr" },
    { name: "quiet", summary: "No notes of boll's own, only errors" },
  ],
  refused: REFUSED_GRANT_FLAGS,
  notes: [
    "CAPSULE is a folder, a capsule.jsonc, or a bare .wasm.",
    "",
    "  boll run capsules/hello -- world",
    "  boll run capsules/word-count --mount ./docs:/data:ro",
  ],
  run(args, _context) {
    readGrantFlags(args);
    throw new CapsuleError("internal", "Run capsule: not built yet");
  },
};
