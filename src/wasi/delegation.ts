/**
 * `boll:capsule/host`: how a guest asks another capsule to do something. A side door of the room, since most runs may
 * delegate to nobody and never load it. It starts nothing: whoever answers the port decides.
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

/** `boll:capsule/host`. A refusal is thrown as its WIT value. */
export function delegationImports(start: Delegate): Record<string, Record<string, unknown>> {
  return {
    "boll:capsule/host": {
      Delegation,
      async delegate(request: unknown): Promise<Delegation> {
        const answer = await start(readRequest(request));
        if ("kind" in answer) throw { tag: answer.kind, val: answer.message };
        return new Delegation(HOSTED, answer);
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
  return new TypeError(`Delegate: found another type than that of boll:capsule/host in ${name}`);
}
