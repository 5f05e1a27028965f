import { join } from "@std/path";
import { fixture } from "../fixtures/build.ts";
import { delegatingCandidates } from "./delegating.ts";
import type { Peers } from "./peers.ts";
import type { Programs } from "./programs.ts";
import { shimCandidate } from "./shim.ts";
import { type Target, TARGETS } from "./target.ts";
import type { Candidate, Timing } from "./timing.ts";

/** A run to time, and what its ratio should be, if that was ever said. */
export interface StartUpCandidate extends Candidate {
  /** `"of empty"`: this run by the empty one; `"of boll"`: this run by boll's with all walls and a mount. */
  readonly target?: { readonly compared: "of empty" | "of boll"; readonly target: Target };
}

/** A measured run: {@link StartUpCandidate}. */
export interface StartUpTiming extends Timing {
  readonly target?: StartUpCandidate["target"];
}

/** `jco run` transpiles anew each time, at a hundred times the cost of the others. */
const JCO_ROUNDS = 6;

/**
 * Whole foreground runs: first the empty program that they are compared with, then boll's with all walls and a mount.
 * `scratch` is an empty folder.
 */
export async function startUpCandidates(
  root: string,
  scratch: string,
  programs: Programs,
  peers: Peers,
): Promise<StartUpCandidate[]> {
  const hello = join(root, "capsules", "hello");
  const smallest = await fixture("hello_stdio");
  const home = (name: string) => ({ BOLL_HOME: join(scratch, name) });
  const warm = home("warm");
  const cold = home("cold");
  const run = ["run", "--quiet", "--accept"];
  const walls = ["--containment", "scoped"];
  const mount = ["--mount", `${join(root, "docs")}:/data:ro`];
  const boll = { program: programs.boll, env: warm };
  const ofEmpty = (target: Target) => ({ compared: "of empty", target }) as const;
  return [
    { name: "empty compiled program", program: programs.empty, args: [] },
    {
      ...boll,
      name: "hello, all walls, a mount",
      args: [...run, ...walls, ...mount, hello],
      target: ofEmpty(TARGETS.run),
    },
    { ...boll, name: "hello, all walls, no mount", args: [...run, ...walls, hello], target: ofEmpty(TARGETS.run) },
    {
      ...boll,
      name: "smallest guest, stdio only",
      args: [...run, ...walls, smallest],
      target: ofEmpty(TARGETS.smallestRun),
    },
    {
      name: "hello, without the hull, a mount",
      program: programs.bollWithoutHull,
      args: [...run, ...mount, hello],
      env: home("bare"),
    },
    {
      name: "hello, all walls, a mount, cold",
      program: programs.boll,
      args: [...run, ...walls, ...mount, hello],
      env: cold,
      prepare: () => forget(join(cold.BOLL_HOME, "cache")),
    },
    ...await delegatingCandidates(scratch, boll),
    ...await peerCandidates(join(hello, "hello.wasm"), peers),
  ];
}

async function peerCandidates(component: string, peers: Peers): Promise<StartUpCandidate[]> {
  if (peers.kind === "absent") return [];
  const shim = await shimCandidate(peers, { name: "hello, Deno + preview2-shim, no isolation", component });
  return [
    { ...shim, target: { compared: "of boll", target: TARGETS.shimRun } },
    {
      name: "hello, jco run, no isolation",
      program: peers.node,
      args: [peers.jco, "run", component],
      maxRounds: JCO_ROUNDS,
      target: { compared: "of boll", target: TARGETS.jcoRun },
    },
  ];
}

function forget(folder: string): void {
  try {
    Deno.removeSync(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
