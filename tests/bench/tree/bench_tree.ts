import { ProcessTree } from "../../../src/hull/mod.ts";
import { type PreparedSession, recordEnding } from "../../../src/session/mod.ts";
import {
  type ChildEnding,
  type Notice,
  type SessionChild,
  type SessionLaunch,
  Supervisor,
} from "../../../src/supervisor/tree/mod.ts";
import { LIMITS, WIDE } from "../../../src/supervisor/tree/tree_fixture.ts";
import { prepareCapsule } from "../../process/prepare_capsule.ts";
import type { TreeSetup } from "./setup.ts";

/** Longer than any part takes. */
const DEADLINE_MS = 3_600_000;

/** A session that was asked for; the times are from the asking, ms. */
export interface BenchSession {
  readonly child: SessionChild;
  /** Until its process follows its supervisor. */
  readonly upMs: Promise<number>;
  /** Until its guest is about to run. */
  readonly readyMs: Promise<number>;
  /** How many of its events were passed on so far. */
  readonly events: () => number;
}

interface Waiting {
  readonly askedAt: number;
  readonly up: PromiseWithResolvers<number>;
  readonly ready: PromiseWithResolvers<number>;
  events: number;
}

/** A supervisor as boll has it: it looks at `/proc`, and puts every ending on record. */
export class BenchTree implements AsyncDisposable {
  readonly supervisor: Supervisor;
  readonly #setup: TreeSetup;
  readonly #processes = ProcessTree.open();
  readonly #waiting = new Map<SessionChild, Waiting>();
  readonly #prepared = new Map<string, PreparedSession>();

  constructor(setup: TreeSetup) {
    this.#setup = setup;
    this.supervisor = new Supervisor({
      treeTokens: Number.MAX_SAFE_INTEGER,
      admission: WIDE,
      ports: {
        processes: this.#processes,
        notice: (child, notice) => this.#hear(child, notice),
        record: (ending) => this.#record(ending),
      },
    });
  }

  /** Starts a session of the guest at that path. What is prepared for it is part of its start. */
  startGuest(path: string): BenchSession {
    const { environment, programs } = this.#setup;
    return this.start(async () => {
      const prepared = await prepareCapsule(
        { mode: "binary", command: (args) => [programs.boll, ...args], environment: () => ({ ...environment }) },
        path,
        { limits: { deadline_ms: DEADLINE_MS } },
      );
      this.#prepared.set(prepared.places.id, prepared);
      return prepared.launch;
    });
  }

  /** Starts any session. */
  start(prepare: () => SessionLaunch | Promise<SessionLaunch>): BenchSession {
    const waiting: Waiting = {
      askedAt: performance.now(),
      up: Promise.withResolvers(),
      ready: Promise.withResolvers(),
      events: 0,
    };
    const limits = { ...LIMITS, max_tokens: 1, deadline_ms: DEADLINE_MS };
    const child = this.supervisor.spawn({ limits, role: "command", prepare });
    if (child.kind === "refused") throw new Error(child.message);
    this.#waiting.set(child, waiting);
    child.ended.then(({ status, detail, tail }) => {
      this.#waiting.delete(child);
      const error = new Error(`Wait for a session: it ended as ${status}: ${detail} ${tail}`);
      for (const { promise, reject } of [waiting.up, waiting.ready]) {
        promise.catch(() => {});
        reject(error);
      }
    });
    return { child, upMs: waiting.up.promise, readyMs: waiting.ready.promise, events: () => waiting.events };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.supervisor[Symbol.asyncDispose]();
    this.#processes.close();
  }

  #hear(child: SessionChild, notice: Notice): void {
    const waiting = this.#waiting.get(child);
    if (waiting === undefined) return;
    const elapsedMs = performance.now() - waiting.askedAt;
    if (notice.kind === "ready") waiting.ready.resolve(elapsedMs);
    else if (notice.kind === "event" && notice.event === "child.up") waiting.up.resolve(elapsedMs);
    else if (notice.kind === "event") waiting.events++;
  }

  #record(ending: ChildEnding): void {
    const session = this.#prepared.get(ending.session_id);
    if (session === undefined) return;
    recordEnding(session.places, ending);
    session[Symbol.dispose]();
    this.#prepared.delete(ending.session_id);
  }
}
