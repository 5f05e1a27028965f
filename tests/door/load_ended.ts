/**
 * Has a door see so many tasks to their end as fast as it can, and says how much memory it has on the way. Each is cancelled
 * as soon as it was accepted: at `dist/boll` behind a task that never ends, so that none of them takes a cell.
 *
 * ```sh
 * deno run -A tests/door/load_ended.ts 40000                  # the door alone, its tasks in memory
 * deno run -A tests/door/load_ended.ts 40000 --named --held   # in a folder; and what its heap holds after a collection
 * deno run -A tests/door/load_ended.ts 20000 --dist           # dist/boll serve --name
 * ```
 *
 * @module
 */
import { memoryOf, openExecutable, openSource } from "./load_target.ts";
import { message, request, WireConnection } from "./wire_client.ts";

const SENDERS = 8;
const LOOKS = 10;
const FILLER = "x".repeat(500);
const ENDLESS = "for (;;) monotonicClock.subscribeDuration(1_000_000_000).block();";
const total = Number(Deno.args.find((word) => !word.startsWith("--")) ?? 20_000);
const [isDist, isNamed, isHeld] = ["--dist", "--named", "--held"].map((word) => Deno.args.includes(word));

await using target = isDist ? await openExecutable() : await openSource({ isNamed: isNamed! });
{
  using connection = await WireConnection.open(target.answering);
  if (isDist) await submit(connection, ENDLESS);
}
for (let done = 0, look = 0; look <= LOOKS; look++) {
  const until = total / LOOKS * look;
  const next = () => done++ < until;
  await Promise.all(Array.from({ length: SENDERS }, () => endTasks(next)));
  done = until;
  console.log(JSON.stringify({ ended: until, ...await memoryOf(target, isHeld!) }));
}

async function endTasks(next: () => boolean): Promise<void> {
  using connection = await WireConnection.open(target.answering);
  while (next()) {
    const { task } = await submit(connection, `"${FILLER}"`);
    await call(connection, "CancelTask", { id: task.id });
  }
}

function submit(connection: WireConnection, text: string) {
  return call(connection, "SendMessage", { ...message(text), configuration: { returnImmediately: true } });
}

async function call(connection: WireConnection, method: string, params: unknown) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  await connection.send(request(target.answering, { headers: target.headers, body }));
  return JSON.parse((await connection.reply()).body).result;
}
