import { assert, assertEquals } from "@std/assert";
import { NO_GRANTS } from "./defaults.ts";
import { explainWalls } from "./explain_walls.ts";
import { toolInstances } from "./tool_grants.ts";
import { toProcess } from "./walls.ts";

const PROBE = { os: "linux", landlockAbi: 7, seccomp: true, reasons: [] } as unknown as Parameters<
  typeof explainWalls
>[1]["probe"];

Deno.test("explainWalls: a tool's cell has memory for the calls that it works on at once, and says how many", () => {
  const processOf = (role?: "tool") =>
    explainWalls(NO_GRANTS, { probe: PROBE, compiled: true, work: "/w", ...(role && { role }) })[2]!.binds;
  const bytesOf = (instances: number) => toProcess(NO_GRANTS, "main", instances).dataBytes;
  assert(processOf().some((line) => line.includes(`${bytesOf(1)} bytes of data`)));
  assertEquals(toolInstances(NO_GRANTS.limits), 5);
  assert(processOf("tool").some((line) => line.includes(`${bytesOf(5)} bytes of data`)));
  assert(processOf("tool").some((line) => line.startsWith("Calls at once: 4,")));
  assert(processOf().every((line) => !line.includes("Calls at once")));
});
