import { assertEquals } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { OWN_PLACE } from "../supervisor/tree/mod.ts";
import { Launcher } from "./launcher.ts";
import type { LauncherOptions } from "./launcher_options.ts";

const PLACE = "/home/of/somebody";

/** What a call is answered when looking its capsule up fails, and what the operator is told. */
async function answerTo(failure: Error): Promise<{ answer: unknown; warned: string[] }> {
  const warned: string[] = [];
  const grants = { spawn: ["worker"], limits: { deadline_ms: 1_000 } };
  const options = {
    root: { places: { id: "ses", runtime: "/nowhere" }, grants, envValues: {}, remainingMs: () => 1_000 },
    find() {
      throw failure;
    },
    warn: (line: string) => void warned.push(line),
  };
  await using launcher = new Launcher(options as unknown as LauncherOptions);
  const answer = await launcher.at(OWN_PLACE).start({ capsule: "worker", task: "", mounts: [] });
  return { answer, warned };
}

Deno.test("Launcher: what fails is told to the operator, and to who asked that it failed; a refusal is told to both", async () => {
  const failed = { kind: "failed", message: "Delegate to worker: it could not be started" };
  for (const failure of [new Deno.errors.NotFound(PLACE), new CapsuleError("home.unwritable", PLACE)]) {
    const { answer, warned } = await answerTo(failure);
    assertEquals(answer, failed);
    assertEquals([warned.length, warned[0]!.includes(PLACE)], [1, true]);
  }
  const message = "Delegate to worker: not installed, boll.lock does not have it";
  assertEquals(await answerTo(new CapsuleError("capsule.not_installed", message)), {
    answer: { kind: "refused", message },
    warned: [],
  });
});
