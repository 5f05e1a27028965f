/** Something that was said of a task, as all its readers get it. */
export interface TaskEvent {
  /** Its place in the task's stream; says nothing in another task's. */
  readonly id: string;
  /** A `StreamResponse` of the protocol. */
  readonly json: string;
  /** Whether the task rests with it, so that a stream which has told it ends. */
  readonly closes: boolean;
}

/** What a reader gets next. */
export type ReaderItem =
  | { readonly kind: "events"; readonly events: readonly TaskEvent[] }
  /** Nothing came for a while. */
  | { readonly kind: "beat" }
  /** It was too slow, and is told nothing more. */
  | { readonly kind: "lagged" }
  | { readonly kind: "end" };

/** The bounds of {@link EventLog}. */
export interface EventLogLimits {
  readonly replayEvents: number;
  readonly replayBytes: number;
  readonly readerEvents: number;
}

/** A reader takes so much at once, characters, or one event: one that stalls holds no more, and then hears that it lags. */
const MAX_TAKEN = 64 * 1024;

/** All that was said of one task, the last of it kept; and who listens. */
export class EventLog {
  readonly #epoch = crypto.randomUUID().slice(0, 8);
  readonly #limits: EventLogLimits;
  readonly #readers = new Set<EventReader>();
  #events: TaskEvent[] = [];
  #bytes = 0;
  #count = 0;
  #isOver = false;

  constructor(limits: EventLogLimits) {
    this.#limits = limits;
  }

  /** Bytes that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The id of the newest event. */
  get position(): string {
    return `${this.#epoch}-${this.#count}`;
  }

  /** Whether the newest event closes streams. */
  get isResting(): boolean {
    return this.#isOver || this.#events.at(-1)?.closes === true;
  }

  /** Who listens. */
  get readers(): number {
    return this.#readers.size;
  }

  /** Tells all readers, and drops those that are too far behind; gives how many that were. */
  publish(json: string, closes: boolean): number {
    this.#count++;
    const event = { id: this.position, json, closes };
    this.#keep(event);
    const late = [...this.#readers].filter((reader) => !reader.offer(event, this.#limits.readerEvents));
    for (const reader of late) this.#readers.delete(reader);
    return late.length;
  }

  /** Hears what is said from now on. */
  subscribe(): EventReader {
    return this.#read([]);
  }

  /** Hears all after that event, and from now on; undefined when it is not known any more, or never was. */
  resume(after: string): EventReader | undefined {
    const [epoch, number, ...more] = after.split("-");
    if (epoch !== this.#epoch || more.length > 0 || !/^\d{1,15}$/.test(number ?? "")) return undefined;
    const missed = this.#count - Number(number);
    if (missed < 0 || missed > this.#events.length) return undefined;
    return this.#read(missed === 0 ? [] : this.#events.slice(-missed));
  }

  /** Nothing more comes: every reader ends with what it has. */
  end(): void {
    this.#isOver = true;
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  #read(missed: readonly TaskEvent[]): EventReader {
    const reader = new EventReader(missed, {
      isResting: () => this.isResting,
      leave: (one) => this.#readers.delete(one),
    });
    if (this.#isOver) reader.end();
    else this.#readers.add(reader);
    return reader;
  }

  #keep(event: TaskEvent): void {
    this.#events.push(event);
    this.#bytes += event.json.length;
    let drop = Math.max(0, this.#events.length - this.#limits.replayEvents);
    let freed = this.#events.slice(0, drop).reduce((sum, { json }) => sum + json.length, 0);
    while (this.#bytes - freed > this.#limits.replayBytes && drop < this.#events.length) {
      freed += this.#events[drop++]!.json.length;
    }
    if (drop === 0) return;
    this.#events.splice(0, drop);
    this.#bytes -= freed;
  }
}

/** What a reader knows of the log it hears. */
interface ReaderLog {
  isResting(): boolean;
  leave(reader: EventReader): void;
}

/** One that listens to a task, at its own pace up to a bound. */
export class EventReader {
  readonly #log: ReaderLog;
  /** What it comes back for: however much, it is not behind with that. */
  #missed: TaskEvent[];
  #waiting: TaskEvent[] = [];
  #wake: ((item: ReaderItem) => void) | undefined;
  #hasLagged = false;
  #isOver = false;
  #closedWith: TaskEvent | undefined;

  constructor(missed: readonly TaskEvent[], log: ReaderLog) {
    this.#missed = [...missed];
    this.#log = log;
  }

  /** The first of what waits for it, or what comes next. One caller at a time. */
  next(): Promise<ReaderItem> {
    const item = this.#take();
    if (item !== undefined) return Promise.resolve(item);
    return new Promise((resolve) => this.#wake = resolve);
  }

  /** Wakes one that waits, with nothing. */
  beat(): void {
    this.#wakeWith({ kind: "beat" });
  }

  /** Takes one event more; false when that is too many. */
  offer(event: TaskEvent, most: number): boolean {
    if (this.#waiting.length >= most) {
      this.#hasLagged = true;
      this.#missed = this.#waiting = [];
      return false;
    }
    this.#waiting.push(event);
    this.#wakeNext();
    return true;
  }

  /** Nothing more comes. */
  end(): void {
    this.#isOver = true;
    this.#wakeNext();
  }

  /** Stops listening. */
  close(): void {
    this.#log.leave(this);
    this.end();
  }

  #take(): ReaderItem | undefined {
    if (this.#hasLagged) {
      this.#hasLagged = false;
      this.#isOver = true;
      return { kind: "lagged" };
    }
    const waiting = this.#missed.length > 0 ? this.#missed : this.#waiting;
    if (waiting.length > 0) {
      const events = waiting.splice(0, fitting(waiting));
      this.#closedWith = events.at(-1)!.closes ? events.at(-1) : undefined;
      return { kind: "events", events };
    }
    // A replay may hold an old question: only one that the task still rests with ends the stream.
    if (this.#isOver || (this.#closedWith !== undefined && this.#log.isResting())) {
      this.#log.leave(this);
      return { kind: "end" };
    }
    return undefined;
  }

  #wakeNext(): void {
    if (this.#wake === undefined) return;
    const item = this.#take();
    if (item !== undefined) this.#wakeWith(item);
  }

  #wakeWith(item: ReaderItem): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.(item);
  }
}

/** How many of the first are taken together. */
function fitting(events: readonly TaskEvent[]): number {
  let [count, length] = [1, events[0]!.json.length];
  while (count < events.length && (length += events[count]!.json.length) <= MAX_TAKEN) count++;
  return count;
}
