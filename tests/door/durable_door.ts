/**
 * A door over a folder, to be killed: `durable-door FOLDER RUNS idempotent|once`. It prints its port, and appends a line for
 * each task that it begins to the file `RUNS`.
 * @module
 */
import { openDoor } from "../../src/door/mod.ts";

const [path = "", runs = "", how] = Deno.args;
using log = Deno.openSync(runs, { append: true, create: true });

const door = await openDoor({
  listen: { hostname: "127.0.0.1", port: 0 },
  names: [],
  card: { name: "durable", description: "Is killed", version: "1.0.0", skills: [] },
  work: {
    async run({ id, text, isRerun }, voice) {
      log.writeSync(new TextEncoder().encode(`${id} ${isRerun ? "again" : "first"}\n`));
      voice.output(text.slice(0, 1));
      await new Promise<void>((resolve) => setTimeout(resolve, 2));
      return { state: "completed", answer: text };
    },
  },
  credentials: { isOpen: true, peers: [] },
  accept: "queue",
  queueDepth: 1_000_000,
  storage: { kind: "folder", path },
  isIdempotent: how === "idempotent",
  record: () => {},
});
console.log(door.address.port);
await door.done;
