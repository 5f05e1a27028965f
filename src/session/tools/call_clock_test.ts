import { assertEquals } from "@std/assert";
import { CallClock } from "./call_clock.ts";

Deno.test("CallClock: it runs out, but not while it is held or after it was stopped", async () => {
  const over: string[] = [];
  const last = Promise.withResolvers<void>();
  const held = new CallClock(1, () => over.push("held"));
  held.isHeld = true;
  held.isHeld = true;
  const stopped = new CallClock(1, () => over.push("stopped"));
  stopped.isHeld = true;
  stopped.stop();
  stopped.isHeld = false;
  new CallClock(5, () => {
    over.push("plain");
    last.resolve();
  });
  await last.promise;
  assertEquals(over, ["plain"]);
  const released = Promise.withResolvers<void>();
  const again = new CallClock(20, () => released.resolve());
  again.isHeld = true;
  again.isHeld = false;
  await released.promise;
  held.stop();
});
