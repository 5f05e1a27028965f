import { assertEquals } from "@std/assert";
import { EventLog, type EventReader, type ReaderItem } from "./event_log.ts";

const LIMITS = { replayEvents: 4, replayBytes: 100, readerEvents: 3 };

/** Listens with a reader. */
class Ear {
  readonly #reader: EventReader;
  #pending: Promise<ReaderItem> | undefined;

  constructor(reader: EventReader | undefined) {
    this.#reader = reader!;
  }

  /** What it gets, to its end or until it would wait. */
  async hear(): Promise<string[]> {
    const heard: string[] = [];
    for (;;) {
      this.#pending ??= this.#reader.next();
      const item = await Promise.race([this.#pending, Promise.resolve().then(() => {}).then(() => undefined)]);
      if (item === undefined) return heard;
      this.#pending = undefined;
      if (item.kind === "events") heard.push(...item.events.map(({ json }) => json));
      else heard.push(item.kind);
      if (item.kind === "end") return heard;
    }
  }
}

Deno.test("EventLog: a reader hears what is said from now on, in order, and the end with what closes", async () => {
  const log = new EventLog(LIMITS);
  log.publish("a", false);
  const ear = new Ear(log.subscribe());
  assertEquals(log.publish("b", false), 0);
  assertEquals(log.publish("c", true), 0);
  assertEquals(await ear.hear(), ["b", "c", "end"]);
  assertEquals(log.readers, 0);
});

Deno.test("EventLog: resume replays from each place that is kept, and knows no other", async () => {
  const log = new EventLog(LIMITS);
  const places = [log.position];
  for (const json of ["a", "b", "c", "d", "e"]) {
    log.publish(json, false);
    places.push(log.position);
  }
  assertEquals(log.resume(places[0]!), undefined);
  for (let at = 1; at <= 5; at++) {
    assertEquals(await new Ear(log.resume(places[at]!)).hear(), ["a", "b", "c", "d", "e"].slice(at));
  }
  const [epoch] = log.position.split("-");
  for (
    const foreign of [
      `${epoch}-6`,
      `${epoch}--1`,
      `${epoch}-1-1`,
      `${epoch}-x`,
      "-5",
      "",
      new EventLog(LIMITS).position,
    ]
  ) {
    assertEquals(log.resume(foreign), undefined, foreign);
  }
});

Deno.test("EventLog: what is kept has a number of events and of bytes, the oldest go", () => {
  const log = new EventLog(LIMITS);
  for (let count = 0; count < 10; count++) log.publish("x".repeat(10), false);
  assertEquals(log.bytes, 40);
  log.publish("y".repeat(95), false);
  assertEquals(log.bytes, 95);
  log.publish("z".repeat(101), false);
  assertEquals(log.bytes, 0);
});

Deno.test("EventLog: one event too many drops a reader that takes none, tells it once, and spares the others", async () => {
  const log = new EventLog(LIMITS);
  const [slow, quick] = [new Ear(log.subscribe()), new Ear(log.subscribe())];
  const heard: string[] = [];
  for (const json of ["a", "b", "c"]) {
    assertEquals(log.publish(json, false), 0);
    heard.push(...await quick.hear());
  }
  assertEquals(log.publish("d", false), 1);
  assertEquals(log.publish("e", true), 0);
  assertEquals([...heard, ...await quick.hear()], ["a", "b", "c", "d", "e", "end"]);
  assertEquals(await slow.hear(), ["lagged", "end"]);
});

Deno.test("EventLog: whoever comes back for more than a reader may be behind is not behind with that, but with what is new", async () => {
  const log = new EventLog(LIMITS);
  const start = log.position;
  for (const json of ["a", "b", "c", "d"]) log.publish(json, false);
  const [back, slow] = [new Ear(log.resume(start)), new Ear(log.resume(start))];
  for (const json of ["e", "f", "g"]) assertEquals(log.publish(json, false), 0);
  assertEquals(await back.hear(), ["a", "b", "c", "d", "e", "f", "g"]);
  assertEquals(log.publish("h", false), 1);
  assertEquals([await back.hear(), await slow.hear()], [["h"], ["lagged", "end"]]);
});

Deno.test("EventLog: a reader takes 64 Ki characters at once and no more; when it was too slow meanwhile, it hears that next", async () => {
  const log = new EventLog({ replayEvents: 9, replayBytes: 1_000_000, readerEvents: 4 });
  const reader = log.subscribe();
  const take = async () => {
    const item = await reader.next();
    return item.kind === "events" ? item.events.map(({ json }) => json.length) : item.kind;
  };
  for (const length of [30_000, 35_536, 1, 100_000]) log.publish("x".repeat(length), false);
  assertEquals([await take(), await take(), await take()], [[30_000, 35_536], [1], [100_000]]);
  for (const length of [30_000, 35_536, 1, 1]) log.publish("x".repeat(length), false);
  assertEquals(await take(), [30_000, 35_536]);
  assertEquals([log.publish("x", false), log.publish("x", false), log.publish("x", false)], [0, 0, 1]);
  assertEquals([await take(), await take()], ["lagged", "end"]);
});

Deno.test("EventLog: an old question in a replay does not end it; the end of the log does", async () => {
  const log = new EventLog(LIMITS);
  const start = log.position;
  log.publish("question", true);
  log.publish("answer", false);
  const ear = new Ear(log.resume(start));
  assertEquals(await ear.hear(), ["question", "answer"]);
  log.publish("more", false);
  log.end();
  assertEquals(await ear.hear(), ["more", "end"]);
  assertEquals(await new Ear(log.resume(start)).hear(), ["question", "answer", "more", "end"]);
});
