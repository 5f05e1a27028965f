import { CapsuleError } from "../base/mod.ts";
import { agentCard } from "./a2a/agent_card.ts";
import { Calls } from "./a2a/calls.ts";
import { type Clock, SYSTEM_CLOCK } from "./clock.ts";
import type { DoorEvent } from "./door_event.ts";
import { FrontDesk } from "./front_desk.ts";
import { HttpServer } from "./http/http_server.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { MemoryStore } from "./tasks/memory_store.ts";
import { DoorMetrics } from "./metrics.ts";
import type { Credentials, Door, DoorOptions } from "./options.ts";
import { DoorPlaces } from "./places.ts";
import { TaskBoard } from "./tasks/task_board.ts";
import { TaskHandler } from "./a2a/task_handler.ts";
import type { TaskStore } from "./tasks/task_store.ts";

const GRACE_MS = 10_000;
/** Of the time to drain, what is kept for readers to hear the last word, once all is written. */
const FAREWELL = 0.3;
/** Refused completions that the trace hears of: they need no token. */
const MAX_TOLD_REFUSALS = 64;
const TICK_MS = 1_000;
const STALLED_MS = 5_000;

/** Opens a door: its store first, then what an earlier session left in it, then its port. */
export async function openDoor(options: DoorOptions): Promise<Door> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const store: TaskStore = options.storage.kind === "memory"
    ? new MemoryStore(limits)
    : (await import("./tasks/sqlite_store.ts")).openSqliteStore(options.storage.path, {
      limits,
      clock: options.clock ?? SYSTEM_CLOCK,
    });
  const listener = listen(options.listen, store);
  try {
    return new OpenDoor({ options, store, listener });
  } catch (error) {
    listener.close();
    store.close();
    throw error;
  }
}

/** Before anything is done: a port that is taken must not fail the tasks of the session that has it. */
function listen(place: DoorOptions["listen"], store: TaskStore): Deno.TcpListener {
  try {
    return Deno.listen({ ...place });
  } catch (error) {
    store.close();
    const why = error instanceof Error ? error.message : String(error);
    throw new CapsuleError("service.listen_failed", `Listen on ${place.hostname} port ${place.port}: ${why}`, {
      cause: error,
    });
  }
}

interface OpenDoorParts {
  readonly options: DoorOptions;
  readonly store: TaskStore;
  readonly listener: Deno.TcpListener;
}

class OpenDoor implements Door {
  readonly url: string;
  readonly address: Deno.NetAddr;
  readonly #options: DoorOptions;
  readonly #clock: Clock;
  readonly #store: TaskStore;
  readonly #board: TaskBoard;
  readonly #server: HttpServer;
  readonly #desk: FrontDesk;
  readonly #metrics = new DoorMetrics();
  #refusals = 0;
  #credentials: Credentials;
  #tickedAt: number;
  #stopTicking: () => void;
  #drained: Promise<void> | undefined;

  constructor({ options, store, listener }: OpenDoorParts) {
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#options = options;
    this.#store = store;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#credentials = options.credentials;
    this.address = listener.addr as Deno.NetAddr;
    this.url = options.publicUrl ?? urlOf(this.address);
    const places = new DoorPlaces(this.address, options.names);
    const card = agentCard({ card: options.card, url: this.url, needsToken: !options.credentials.isOpen });
    const clock = this.#clock;
    const record = (event: DoorEvent) => this.#record(event);
    this.#board = new TaskBoard({
      ...options,
      store,
      clock,
      limits,
      record,
      isDurable: options.storage.kind === "folder",
      inputModes: card.defaultInputModes,
    });
    const calls = new Calls({
      board: this.#board,
      handler: new TaskHandler({ board: this.#board, card, limits }),
      clock,
      limits,
    });
    this.#desk = new FrontDesk({
      places,
      card,
      openedMs: clock.now(),
      calls,
      limits,
      credentials: () => this.#credentials,
      completions: options.completions,
      isAlive: () => clock.now() - this.#tickedAt < STALLED_MS,
      unready: () => this.#board.isTaking ? options.unready?.() : "it is ending",
      metrics: () => this.#metrics.text(this.#gauges()),
      onCompletion: (delegation_id, refused) => this.#onCompletion(delegation_id, refused),
      onServed: (route, status) => this.#metrics.served(route, status),
    });
    this.#server = new HttpServer({ listener, limits, clock, handle: (request) => this.#desk.handle(request) });
    this.#tickedAt = clock.now();
    this.#stopTicking = this.#tick();
    this.#board.start();
  }

  get done(): Promise<void> {
    return this.#board.done;
  }

  setCredentials(credentials: Credentials): void {
    this.#credentials = credentials;
  }

  drain(graceMs: number = GRACE_MS): Promise<void> {
    return this.#drained ??= this.#drain(graceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain();
  }

  async #drain(graceMs: number): Promise<void> {
    await this.#board.drain(graceMs * (1 - FAREWELL));
    await this.#server.close(graceMs * FAREWELL);
    this.#stopTicking();
    this.#store.close();
  }

  #tick(): () => void {
    const stop = this.#clock.after(TICK_MS, () => {
      this.#tickedAt = this.#clock.now();
      this.#stopTicking = this.#tick();
    });
    return stop;
  }

  #onCompletion(delegation_id: string, refused: string | undefined): void {
    const event: DoorEvent = { event: "completion", delegation_id, ...(refused !== undefined && { refused }) };
    if (refused === undefined || this.#refusals++ < MAX_TOLD_REFUSALS) this.#record(event);
    else this.#metrics.count(event);
  }

  #record(event: DoorEvent): void {
    this.#metrics.count(event);
    this.#options.record(event);
  }

  #gauges(): Record<string, number> {
    return {
      boll_door_tasks_waiting: this.#board.waiting,
      boll_door_tasks_running: this.#board.running,
      boll_door_requests: this.#desk.underWay,
      boll_door_reply_bytes: this.#desk.replyBytes,
      boll_door_readers: this.#board.readers,
      boll_door_connections: this.#server.connections,
      boll_door_connections_unknown: this.#server.unknownConnections,
      ...this.#options.gauges?.(),
    };
  }
}

function urlOf({ hostname, port }: Deno.NetAddr): string {
  return `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}/`;
}
