/**
 * `make bench`: measures boll against an empty compiled program and against direct Deno calls, side by side in one run,
 * prints the page and writes it to `docs/benchmarks.md`.
 * @module
 */
import { stop } from "esbuild";
import { join } from "@std/path";
import { timeFileOperations } from "./file_operations.ts";
import { describeMachine } from "./machine.ts";
import { compilePrograms } from "./programs.ts";
import { writeReport } from "./report.ts";
import { startUpCandidates } from "./start_up.ts";
import { interleave } from "./timing.ts";

const START_UP_ROUNDS = 20;
const OPERATION_ROUNDS = 10;

const root = join(import.meta.dirname!, "..", "..");
const scratch = Deno.makeTempDirSync({ prefix: "boll-bench-" });
try {
  const programs = await compilePrograms(root, scratch);
  await stop();
  const startUp = await interleave(await startUpCandidates(root, scratch, programs), START_UP_ROUNDS);
  const operations = await timeFileOperations(scratch, programs, OPERATION_ROUNDS);
  const page = writeReport(describeMachine(), startUp, operations);
  console.log(page);
  const target = join(root, "docs", "benchmarks.md");
  Deno.writeTextFileSync(target, page);
  await new Deno.Command(Deno.execPath(), { args: ["fmt", "--quiet", target] }).output();
} finally {
  Deno.removeSync(scratch, { recursive: true });
}
