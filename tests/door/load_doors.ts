/**
 * Two doors for `load.ts` to load: one with a task that says something for each message that comes to the other, which
 * answers at once. It prints both ports.
 * @module
 */
import { type DoorEvent, type DoorWork, openDoor, type TaskVoice } from "../../src/door/mod.ts";

let voice: TaskVoice | undefined;
let dropped = 0;

async function open(work: DoorWork) {
  return await openDoor({
    listen: { hostname: "127.0.0.1", port: 0 },
    names: [],
    card: { name: "load", description: "Is loaded", version: "1.0.0", skills: [] },
    work,
    credentials: { isOpen: true, peers: [] },
    accept: "queue",
    queueDepth: 256,
    storage: { kind: "memory" },
    isIdempotent: false,
    record: (event: DoorEvent) => dropped += event.event === "readers_dropped" ? event.count : 0,
    gauges: () => ({ boll_load_dropped: dropped }),
  });
}

const talking = await open({
  run: (task, said) => {
    voice = said;
    return new Promise((resolve) => task.signal.addEventListener("abort", () => resolve({ state: "canceled" })));
  },
});
const answering = await open({
  run: ({ text }) => {
    voice?.working(text);
    return Promise.resolve({ state: "completed", answer: text.toUpperCase() });
  },
});
console.log(`${talking.address.port} ${answering.address.port}`);
await talking.done;
