/**
 * `boll:capsule/host`: what a guest asks of boll itself: another capsule to do something, a person to answer, or only to
 * be heard. A side door of the room, since most runs may delegate to nobody and never load it. It starts nothing:
 * whoever answers the ports decides.
 * @module
 */
import { HOSTED, requireHosted } from "./hosted.ts";
import { Watched } from "./net/watched.ts";
import { Pollable } from "./pollable.ts";

/** What a guest asks for, in its own words. */
export interface DelegationRequest {
  readonly capsule: string;
  readonly version?: string;
  readonly task: string;
  /** Guest paths: the child's, and this guest's own. */
  readonly mounts: readonly (readonly [child: string, parent: string])[];
  readonly deadlineMs?: number;
}

/** A child that was started; `end` settles with what is to be read of it, and never rejects. */
export interface StartedDelegation {
  readonly id: string;
  readonly end: Promise<string>;
}

/** Why no child was started, in the runtime's own words. */
export interface DelegationRefusal {
  readonly kind: "refused" | "failed";
  readonly message: string;
}

/** Port: asks whoever starts children. Never rejects. */
export type Delegate = (request: DelegationRequest) => Promise<StartedDelegation | DelegationRefusal>;

/** How much a line matters. */
export type LogLevel = (typeof LOG_LEVELS)[number];

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** The longest text that is passed on of `log` and `emit`, characters. */
const MAX_WORD = 8_192;
/** How many of them one instance may say; what comes after is an attacker's flood. */
const MAX_WORDS = 1_000;

/** What is asked of a person came back, or why not. */
export type InputAnswer = { readonly text: string } | DelegationRefusal;

/** Ports of `boll:capsule/host` beside {@link Delegate}: absent ones are heard by nobody. */
export interface HostPorts {
  log?(level: LogLevel, text: string): void;
  emit?(text: string): void;
  /** Never rejects. */
  requestInput?(question: string): Promise<InputAnswer>;
}

const NOBODY_TO_ASK: DelegationRefusal = { kind: "refused", message: "Request input: nobody can be asked here" };

/** `boll:capsule/host`. A refusal is thrown as its WIT value. */
export function delegationImports(start: Delegate, ports: HostPorts = {}): Record<string, Record<string, unknown>> {
  let words = 0;
  const isHeard = () => ++words <= MAX_WORDS;
  return {
    "boll:capsule/host": {
      Delegation,
      async delegate(request: unknown): Promise<Delegation> {
        const answer = await start(readRequest(request));
        if ("kind" in answer) throw { tag: answer.kind, val: answer.message };
        return new Delegation(HOSTED, answer);
      },
      log(level: unknown, text: unknown): void {
        const known = LOG_LEVELS.find((one) => one === level);
        if (known === undefined) throw wrongType("log-level");
        const line = readText(text, "text").slice(0, MAX_WORD);
        if (isHeard()) ports.log?.(known, line);
      },
      emit(text: unknown): void {
        const word = readText(text, "text").slice(0, MAX_WORD);
        if (isHeard()) ports.emit?.(word);
      },
      async requestInput(question: unknown): Promise<string> {
        const text = readText(question, "question");
        const answer = await ports.requestInput?.(text) ?? NOBODY_TO_ASK;
        if ("kind" in answer) throw { tag: answer.kind, val: answer.message };
        return answer.text;
      },
    },
  };
}

/** `delegation`. Dropping it ends nothing: the child goes on, and nobody reads of its end. */
class Delegation {
  readonly #id: string;
  readonly #readiness = new Watched(() => this.#outcome !== undefined);
  #outcome: string | undefined;

  constructor(key: typeof HOSTED, { id, end }: StartedDelegation) {
    requireHosted(key);
    this.#id = id;
    end.then((outcome) => {
      this.#outcome = outcome;
      this.#readiness.wake();
    });
  }

  id(): string {
    return this.#id;
  }

  subscribe(): Pollable {
    return new Pollable(HOSTED, this.#readiness);
  }

  outcome(): string | undefined {
    return this.#outcome;
  }
}

/** The checks of types are for components that declare others. @throws TypeError (a trap) */
function readRequest(request: unknown): DelegationRequest {
  const { capsule, version, task, mounts, deadlineMs } = readRecord(request);
  if (!Array.isArray(mounts)) throw wrongType("mounts");
  if (deadlineMs !== undefined && typeof deadlineMs !== "bigint") throw wrongType("deadline-ms");
  return {
    capsule: readText(capsule, "capsule"),
    ...(version === undefined ? {} : { version: readText(version, "version") }),
    task: readText(task, "task"),
    mounts: mounts.map((mount) => {
      const { child, parent } = readRecord(mount);
      return [readText(child, "child"), readText(parent, "parent")] as const;
    }),
    ...(deadlineMs === undefined ? {} : { deadlineMs: Number(deadlineMs) }),
  };
}

function readRecord(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw wrongType("a record");
  return value as Record<string, unknown>;
}

function readText(value: unknown, name: string): string {
  if (typeof value !== "string") throw wrongType(name);
  return value;
}

function wrongType(name: string): TypeError {
  return new TypeError(`Call boll: found another type than that of boll:capsule/host in ${name}`);
}
