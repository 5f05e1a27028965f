import { assertEquals } from "@std/assert";
import { forEachMode } from "../harness.ts";
import { startSession } from "./running_session.ts";

forEachMode("session: completed", async (bed) => {
  await using started = await startSession(bed, "cat", { task: { instruction: "hello there" } });
  const result = await started.session.result();
  assertEquals(result.code, 0);
});
