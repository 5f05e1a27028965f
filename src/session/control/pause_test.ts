import { assertEquals } from "@std/assert";
import { Pause } from "./pause.ts";

function recordingCell() {
  const signals: unknown[] = [];
  return { signals, kill: (signal?: Deno.Signal) => void signals.push(signal) };
}

Deno.test("Pause: a guest that was not called yet is not called until it is released, and no process is stopped", async () => {
  const [pause, cell] = [new Pause(), recordingCell()];
  assertEquals([pause.hold(), pause.hold()], [true, false]);
  let isIn = false;
  const entering = pause.enter(cell).then(() => isIn = true);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(isIn, false);
  assertEquals([pause.release(), pause.release()], [true, false]);
  await entering;
  assertEquals(cell.signals, []);
});

Deno.test("Pause: held again while it enters, it waits on; from then on its process is stopped and goes on", async () => {
  const [pause, cell] = [new Pause(), recordingCell()];
  pause.hold();
  const entering = pause.enter(cell);
  pause.release();
  pause.hold();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(pause.isHeld, true);
  pause.release();
  await entering;
  pause.hold();
  pause.release();
  assertEquals(cell.signals, ["SIGSTOP", "SIGCONT"]);
});
