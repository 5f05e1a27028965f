/**
 * Two doors for `load.ts` to load: one with a task that says each message that comes to the other and is not quiet, which
 * answers at once. `load-doors [FOLDER]`: tasks of the second are kept in that folder, else in memory. It prints both ports,
 * and for each byte on stdin what its heap holds once all garbage is gone, bytes.
 * @module
 */
import { type DoorEvent, type DoorOptions, type DoorWork, openDoor, type TaskVoice } from "../../src/door/mod.ts";
import { heldBytes } from "./held_bytes.ts";
import { QUIET } from "./load_target.ts";

const [folder] = Deno.args;
const MEMORY = { kind: "memory" } as const;
let voice: TaskVoice | undefined;
let dropped = 0;

async function open(work: DoorWork, storage: DoorOptions["storage"]) {
  return await openDoor({
    listen: { hostname: "127.0.0.1", port: 0 },
    names: [],
    card: { name: "load", description: "Is loaded", version: "1.0.0", skills: [] },
    work,
    credentials: { isOpen: true, peers: [] },
    accept: "queue",
    queueDepth: 256,
    storage,
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
}, MEMORY);
const answering = await open({
  run: ({ text }) => {
    if (!text.startsWith(QUIET)) voice?.working(text);
    return Promise.resolve({ state: "completed", answer: text.toUpperCase() });
  },
}, folder === undefined ? MEMORY : { kind: "folder", path: folder });
console.log(`${talking.address.port} ${answering.address.port}`);
for await (const bytes of Deno.stdin.readable) for (const _ of bytes) console.log(await heldBytes());
// Whoever started it is gone.
Deno.exit();
