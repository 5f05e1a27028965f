import { join } from "@std/path";
import { fixture } from "../fixtures/build.ts";
import type { Programs } from "./programs.ts";
import type { Candidate } from "./timing.ts";

/** Whole foreground runs, first the empty program that they are compared with. `scratch` is an empty folder. */
export async function startUpCandidates(root: string, scratch: string, programs: Programs): Promise<Candidate[]> {
  const hello = join(root, "capsules", "hello");
  const smallest = await fixture("hello_stdio");
  const home = (name: string) => ({ BOLL_HOME: join(scratch, name) });
  const warm = home("warm");
  const cold = home("cold");
  const run = ["run", "--quiet", "--accept"];
  const walls = ["--containment", "scoped"];
  const mount = ["--mount", `${join(root, "docs")}:/data:ro`];
  return [
    { name: "empty compiled program", program: programs.empty, args: [] },
    { name: "hello, all walls, a mount", program: programs.boll, args: [...run, ...walls, ...mount, hello], env: warm },
    { name: "hello, all walls, no mount", program: programs.boll, args: [...run, ...walls, hello], env: warm },
    { name: "smallest guest, stdio only", program: programs.boll, args: [...run, ...walls, smallest], env: warm },
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
  ];
}

function forget(folder: string): void {
  try {
    Deno.removeSync(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
