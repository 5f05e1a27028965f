/**
 * A worker of `load.ts` and `load_kill.ts`: so many readers of one task, each of which checks that it misses nothing. It says
 * `ready`, and at the end of the task what each of them heard.
 */
import { request, WireConnection, type WireEvent } from "./wire_client.ts";

/** What is read, and by how many. */
export interface Reading {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly task: string;
  readonly readers: number;
  /** Whether a reader whose stream breaks comes back with what it heard last, until it has heard the task's end. */
  readonly comesBack?: boolean;
}

/** What the readers say at the end. */
export interface Heard {
  readonly heard: readonly number[];
  /** Events that were told to nobody of them between two that were. */
  readonly lost: number;
  /** Streams that were broken, and how they went on: after the last event, or with a snapshot that says it is one. */
  readonly broken: number;
  readonly resumed: number;
  readonly gaps: number;
  /** Answers to those that came back which are neither. */
  readonly refused: readonly string[];
  /** The state that each heard last. */
  readonly ends: readonly string[];
}

declare const self: { onmessage: (event: MessageEvent<Reading>) => void; postMessage(value: unknown): void };

const AWAY_MS = 100;
const TERMINAL = /COMPLETED|FAILED|CANCELED|REJECTED/;

/** One that reads a task, over as many connections as it takes. */
class TaskReader {
  readonly #reading: Reading;
  #connection: WireConnection | undefined;
  #last: string | undefined;
  count = 0;
  lost = 0;
  broken = 0;
  resumed = 0;
  gaps = 0;
  readonly refused: string[] = [];
  end = "";

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  async subscribe(): Promise<void> {
    const { port, headers, task } = this.#reading;
    const connection = this.#connection = await WireConnection.open(port);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id: task } });
    const place = this.#last === undefined ? {} : { "last-event-id": this.#last };
    await connection.send(request(port, { headers: { ...headers, ...place }, body }));
    const { status, headers: found } = await connection.head();
    if (status !== 200 || found.get("content-type") !== "text/event-stream") {
      throw new Error(`a reader was answered ${status}, ${found.get("content-type")}`);
    }
  }

  async read(): Promise<void> {
    if (!this.#reading.comesBack) return await this.#readOn();
    for (;;) {
      await this.#readOn().catch(() => {});
      if (TERMINAL.test(this.end)) return;
      this.broken++;
      await this.#comeBack();
    }
  }

  async #comeBack(): Promise<void> {
    for (;;) {
      this.#connection?.[Symbol.dispose]();
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
      try {
        return await this.subscribe();
      } catch (error) {
        if (/was answered/.test(String(error))) this.refused.push(String(error));
      }
    }
  }

  /** Every event has the number after the one before it, but for one that says that it is a new beginning. */
  async #readOn(): Promise<void> {
    const isBack = this.broken > 0;
    let newest: WireEvent | undefined;
    let isFirst = true;
    try {
      for await (const event of this.#connection!.events()) {
        if (event.type === "comment") continue;
        if (isFirst && isBack) this.#judge(event);
        isFirst = false;
        if (event.id === undefined) continue;
        newest = event;
        this.#note(event.id);
      }
    } finally {
      this.#connection![Symbol.dispose]();
      const { task, statusUpdate } = newest?.data?.result ?? {};
      this.end = (task ?? statusUpdate)?.status.state ?? this.end;
    }
  }

  #judge({ id, data }: WireEvent): void {
    const task = data?.result?.task;
    if (task === undefined && id !== undefined) this.resumed++;
    else if (task?.metadata?.["boll/gap"]?.after === this.#last) {
      this.gaps++;
      this.#last = undefined;
      this.end = task.status.state;
    } else this.refused.push(JSON.stringify(data).slice(0, 300));
  }

  #note(id: string): void {
    const [epoch, number] = id.split("-");
    const [lastEpoch, last] = this.#last?.split("-") ?? [];
    if (last !== undefined) this.lost += epoch === lastEpoch ? Number(number) - Number(last) - 1 : 1;
    this.#last = id;
    this.count++;
  }
}

self.onmessage = async ({ data }) => {
  const readers = Array.from({ length: data.readers }, () => new TaskReader(data));
  await Promise.all(readers.map((reader) => reader.subscribe()));
  const reading = readers.map((reader) => reader.read());
  self.postMessage("ready");
  await Promise.all(reading);
  const sum = (name: "lost" | "broken" | "resumed" | "gaps") => readers.reduce((all, reader) => all + reader[name], 0);
  self.postMessage(
    {
      heard: readers.map(({ count }) => count),
      lost: sum("lost"),
      broken: sum("broken"),
      resumed: sum("resumed"),
      gaps: sum("gaps"),
      refused: readers.flatMap(({ refused }) => refused),
      ends: readers.map(({ end }) => end),
    } satisfies Heard,
  );
};
