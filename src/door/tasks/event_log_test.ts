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
