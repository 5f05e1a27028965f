import type { Heard, Reading } from "./load_readers.ts";

/** Readers in a thread of their own; comes back when all of them listen. */
export async function startReaders(reading: Reading): Promise<{ readonly heard: Promise<Heard> }> {
  const worker = new Worker(new URL("./load_readers.ts", import.meta.url), { type: "module" });
  const ready = Promise.withResolvers<void>();
  const heard = Promise.withResolvers<Heard>();
  worker.onmessage = ({ data }: MessageEvent<"ready" | Heard>) => {
    if (data === "ready") return ready.resolve();
    heard.resolve(data);
    worker.terminate();
  };
  worker.postMessage(reading);
  await ready.promise;
  return { heard: heard.promise };
}
