import type { DoorTiming } from "./doors.ts";
import type { ServedTiming } from "./served.ts";
import { table } from "./table.ts";

/** What messages to an A2A server cost, beside the SDK's own server. */
export function writeDoors(doors: readonly DoorTiming[]): string {
  const [sdk] = doors;
  const rows = doors.flatMap(({ name, loads, firstEventMs, lastEventMs }) =>
    loads.map(({ connections, messagesPerSecond }, at) => [
      name,
      `${connections}`,
      messagesPerSecond.toFixed(0),
      (messagesPerSecond / sdk!.loads[at]!.messagesPerSecond).toFixed(2),
      ...(at === 0 ? [firstEventMs.toFixed(2), lastEventMs.toFixed(2)] : ["", ""]),
    ])
  );
  return `## Messages

An A2A server whose work is nothing, over JSON-RPC: messages that are answered with their task whole, and the first and
last event of a stream on a connection of its own. The SDK's server is its own handler, store in memory and dispatcher
behind \`Deno.serve\`, which checks neither token nor \`Host\`, keeps all tasks, and has no places to come back to.

${table(["server", "connections", "messages/s", "× SDK", "first event ms", "last event ms"], rows)}`;
}

/** What a message to a served capsule costs. */
export function writeServed(served: readonly ServedTiming[]): string {
  const rows = served.map((
    { name, spareMs, atOnceMs, queuedMs },
  ) => [name, ...[spareMs, atOnceMs, queuedMs].map((ms) => ms.toFixed(0))]);
  return `## Tasks

\`boll serve\`, from a message to its task, whole: each task runs in a cell of its own, and one is started ahead. With the
spare it stands when the message comes; right behind another task it has only been started; of a queue it is the share of each.

${table(["guest", "with the spare ms", "right behind another ms", "each of a queue ms"], rows)}`;
}
