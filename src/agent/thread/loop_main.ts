/**
 * Entry of the loop's thread: a model to open, then turns; how each ended comes out. It may reach its model's endpoints
 * and nothing else: what is done is done by the main thread, which it asks.
 * @module
 */
import { errorCodeOf } from "../../base/mod.ts";
import { LoopThread } from "./loop_thread.ts";
import type { FromLoop, ToLoop } from "./loop_messages.ts";

interface WorkerScope {
  onmessage: ((event: MessageEvent<ToLoop>) => unknown) | null;
  postMessage(message: FromLoop): void;
}

const scope = globalThis as unknown as WorkerScope;
const methods = console as unknown as Record<string, unknown>;
// Stdout carries frames: whatever a library prints, nothing of it gets there.
for (const name of Object.keys(methods)) if (typeof methods[name] === "function") methods[name] = () => {};

const thread = new LoopThread((message) => scope.postMessage(message));

scope.onmessage = async ({ data }) => {
  if (data.kind === "answer") thread.settle(data.id, data.answer);
  else if (data.kind === "end") thread.end(data.reason);
  else if (data.kind === "turn") scope.postMessage({ kind: "ended", end: await thread.run(data) });
  else {
    try {
      await thread.open(data);
      scope.postMessage({ kind: "opened" });
    } catch (error) {
      const code = errorCodeOf(error);
      // What is no failure of the model's is a bug: the thread dies of it, and whoever started it says so.
      if (code === undefined) throw error;
      scope.postMessage({ kind: "refused", code, message: (error as Error).message });
    }
  }
};
scope.postMessage({ kind: "up" });
