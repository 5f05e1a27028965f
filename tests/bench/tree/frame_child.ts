/**
 * The other end of a pipe, with nothing of a session but its frames.
 *
 *     frame-child echo        answers each ping by a pong
 *     frame-child bytes       gives back what it gets, unread
 *     frame-child flood N     says ready, then so many events (whole thousands), then a result
 * @module
 */
import { decodeControl } from "../../../src/protocol/control/mod.ts";
import { encodeFrame, FrameDecoder } from "../../../src/protocol/mod.ts";
import { writeAll } from "../../../src/base/mod.ts";

/** Events that are made once and said again and again: making them is not what is measured. */
const BATCH = 1_000;

const [mode, count = "0"] = Deno.args;
switch (mode) {
  case "echo":
    await echo();
    break;
  case "bytes":
    await giveBack();
    break;
  case "flood":
    flood(Number(count));
    break;
  default:
    throw new Error(`Start the frame child: found ${mode}`);
}

async function echo(): Promise<void> {
  const decoder = new FrameDecoder();
  const buffer = new Uint8Array(65_536);
  for (let size = await Deno.stdin.read(buffer); size !== null; size = await Deno.stdin.read(buffer)) {
    for (const frame of decoder.push(buffer.subarray(0, size))) {
      const message = decodeControl(frame, decoder.payloadOffset);
      if (message.type === "ping") say({ type: "pong", seq: message.seq });
    }
  }
}

async function giveBack(): Promise<void> {
  const buffer = new Uint8Array(65_536);
  for (let size = await Deno.stdin.read(buffer); size !== null; size = await Deno.stdin.read(buffer)) {
    writeAll(Deno.stdout, buffer.subarray(0, size));
  }
}

function flood(events: number): void {
  say({ type: "ready" });
  const batch = Array.from(
    { length: BATCH },
    (_, round) => encodeFrame({ type: "event", event: "turn.round", fields: { turn: 0, round, tool_calls: 2 } }),
  );
  const bytes = new Uint8Array(batch.flatMap((frame) => [...frame]));
  for (let said = 0; said < events; said += BATCH) writeAll(Deno.stdout, bytes);
  say({ type: "result", outcome: { status: "completed", partial: false, result: events } });
}

function say(message: object): void {
  writeAll(Deno.stdout, encodeFrame(message));
}
