/**
 * Runs the fuzz set for longer than a test run does: with another seed each time, and twenty times the cases.
 *
 * Arguments: how many times the cases (`20`), the seed (a new one), and what the names of the targets must hold.
 * @module
 */
import { join } from "@std/path";
import { REPOSITORY } from "../harness.ts";

const FACTOR = "20";

const [runs = "", seed = "", filter = ""] = Deno.args;
const chosen = {
  BOLL_FUZZ_RUNS: runs || FACTOR,
  BOLL_FUZZ_SEED: seed || String(crypto.getRandomValues(new Uint32Array(1))[0]! >>> 1),
};
console.log(`fuzz: ${chosen.BOLL_FUZZ_RUNS} times the cases of a test run, seed ${chosen.BOLL_FUZZ_SEED}`);
const child = new Deno.Command(Deno.execPath(), {
  args: [
    ...["test", "--allow-all", "--no-check", "--frozen", join(REPOSITORY, "tests/fuzz")],
    ...(filter === "" ? [] : ["--filter", filter]),
  ],
  env: chosen,
}).spawn();
Deno.exit((await child.status).code);
