import type { Clock } from "../clock.ts";
import type { EventReader } from "../tasks/event_log.ts";
import type { HttpReply } from "../http/http_message.ts";

/** An event that is made when it is told. */
export interface FirstEvent {
  /** About how many it will have. */
  readonly bytes: number;
  json(): string;
}

/** What a stream is made of. */
export interface SseOptions {
  readonly reader: EventReader;
  /** Told before all else; only with the last of it the reader has heard all up to `id`. */
  readonly first?: { readonly id: string; readonly told: readonly FirstEvent[] };
  /** A `StreamResponse` as this client gets it. */
  wrap(json: string): string;
  /** The last word to a reader that was too slow. */
  readonly lagged: string;
  /** Each piece is made when there is room for it, and leaves when it was taken. */
  readonly room: { enter(bytes: number): Promise<void>; leave(): void };
  readonly heartbeatMs: number;
  readonly clock: Clock;
}

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(":\n\n");

/** A reply that tells events as they come: each with its id, and a comment when there are none for a while. */
export function sseReply(options: SseOptions): HttpReply {
  const fields = [
    ["content-type", "text/event-stream"],
    ["cache-control", "no-cache"],
    ["x-accel-buffering", "no"],
  ] as const;
  return { status: 200, fields, body: (write) => tell(options, write) };
}

async function tell(options: SseOptions, write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
  const { reader, first, wrap, room, heartbeatMs, clock } = options;
  const writeIn = async (bytes: number, text: () => string) => {
    await room.enter(bytes);
    await write(encoder.encode(text()));
    room.leave();
  };
  try {
    for (const [at, { bytes, json }] of first?.told.entries() ?? []) {
      const isLast = at === first!.told.length - 1;
      await writeIn(bytes, () => eventText(isLast ? first!.id : undefined, wrap(json())));
    }
    for (;;) {
      const unwatch = clock.after(heartbeatMs, () => reader.beat());
      const item = await reader.next();
      unwatch();
      switch (item.kind) {
        case "end":
          return;
        case "beat":
          await write(HEARTBEAT);
          break;
        case "lagged":
          return await write(encoder.encode(`event: error\ndata: ${options.lagged}\n\n`));
        case "events":
          await writeIn(
            item.events.reduce((sum, { json }) => sum + json.length, 0),
            () => item.events.map(({ id, json }) => eventText(id, wrap(json))).join(""),
          );
      }
    }
  } finally {
    reader.close();
  }
}

function eventText(id: string | undefined, data: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}
