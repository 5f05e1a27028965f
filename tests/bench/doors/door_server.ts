/**
 * The door alone, with work that does nothing: `door-server PORT`.
 * @module
 */
import { openDoor } from "../../../src/door/mod.ts";

const door = await openDoor({
  listen: { hostname: "127.0.0.1", port: Number(Deno.args[0]) },
  names: ["localhost"],
  card: { name: "hello", description: "Says hello", version: "1.0.0", skills: [] },
  work: { run: () => Promise.resolve({ state: "completed", answer: "Hello, world!" }) },
  credentials: { isOpen: true, peers: [] },
  accept: "queue",
  queueDepth: 256,
  storage: { kind: "memory" },
  isIdempotent: false,
  record: () => {},
});
console.log(`listening on ${door.url}`);
Deno.addSignalListener("SIGTERM", () => Deno.exit(0));
await door.done;
