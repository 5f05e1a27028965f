import { CapsuleError, isId } from "../base/mod.ts";
import { badField, Fields, pairItem } from "./fields.ts";

/** A folder that the child is to have: where it sees it, and where the capsule that delegates does. */
export type DelegateMount = readonly [child: string, parent: string];

/** What a guest asks another capsule to do. The names are the guest's own words, of which nothing has been believed yet. */
export interface DelegateCall {
  readonly capsule: string;
  /** Exactly this one; absent: the one that is locked. */
  readonly version?: string;
  readonly task: string;
  readonly mounts: readonly DelegateMount[];
  readonly deadline_ms?: number;
}

/** Why no child was started: by a grant, or because something broke; in the runtime's own words. */
export interface DelegateRefusal {
  readonly kind: "refused" | "failed";
  readonly message: string;
}

/** A child was started. */
export interface DelegateStarted {
  readonly delegation_id: string;
}

/** A child has ended: what the guest that delegated reads of it, whole. */
export interface DelegationEnd extends DelegateStarted {
  readonly type: "delegation_end";
  readonly text: string;
}

/** The longest name of a capsule, of a version and of a folder that a call may hold, characters. */
const MAX_CAPSULE = 256;
const MAX_VERSION = 128;
const MAX_PATH = 4_096;
const MAX_MOUNTS = 64;
/** The longest task, characters. */
const MAX_TASK = 256 * 1024;
/** The latest deadline, ms: what a timer can hold. */
const MAX_DEADLINE_MS = 2 ** 31 - 1;

/** The longest text of an end, characters. */
export const MAX_END_TEXT = 256 * 1024;
/** The longest message of a refusal, characters. */
export const MAX_REFUSAL = 8_192;

/** What is wrong with a call, beginning with the field's name; undefined when it can be sent. */
export function findDelegateFault(call: DelegateCall): string | undefined {
  const { capsule, version, task, mounts, deadline_ms } = call;
  if (!isWithin(capsule, 1, MAX_CAPSULE)) return `capsule is not a name of 1 to ${MAX_CAPSULE} characters`;
  if (version !== undefined && !isWithin(version, 1, MAX_VERSION)) {
    return `version is not a text of 1 to ${MAX_VERSION} characters`;
  }
  if (!isWithin(task, 0, MAX_TASK)) return `task is not a text of at most ${MAX_TASK} characters`;
  if (mounts.length > MAX_MOUNTS) return `mounts is not a list of at most ${MAX_MOUNTS}`;
  if (!mounts.every((mount) => mount.every((path) => isWithin(path, 1, MAX_PATH)))) {
    return `mounts is not a list of paths of 1 to ${MAX_PATH} characters`;
  }
  if (deadline_ms !== undefined && !(deadline_ms >= 1 && deadline_ms <= MAX_DEADLINE_MS)) {
    return `deadline_ms is not an integer from 1 to ${MAX_DEADLINE_MS}`;
  }
  return undefined;
}

function isWithin(text: string, min: number, max: number): boolean {
  return text.length >= min && text.length <= max;
}

/** @throws `protocol.bad_field` naming the field */
export function decodeDelegateCall(args: Fields): DelegateCall {
  const any = { max: Number.MAX_SAFE_INTEGER };
  const call: DelegateCall = {
    capsule: args.string("capsule", any),
    ...args.optional("version", (name) => args.string(name, any)),
    task: args.string("task", any),
    mounts: args.list("mounts", pairItem, { max: MAX_MOUNTS }),
    ...args.optional("deadline_ms", (name) => args.integer(name)),
  };
  const fault = findDelegateFault(call);
  if (fault === undefined) return call;
  throw new CapsuleError("protocol.bad_field", `Read a message: ${args.pathOf(fault)}`);
}

/** @throws `protocol.bad_field` naming the field */
export function decodeRefusal(fields: Fields): DelegateRefusal {
  return {
    kind: fields.oneOf("kind", ["refused", "failed"]),
    message: fields.string("message", { max: MAX_REFUSAL }),
  };
}

/** @throws `protocol.bad_field` naming the field */
export function decodeDelegationEnd(fields: Fields): DelegationEnd {
  return {
    type: "delegation_end",
    delegation_id: decodeDelegationId(fields),
    text: fields.string("text", { max: MAX_END_TEXT }),
  };
}

/** @throws `protocol.bad_field` naming the field */
export function decodeDelegationId(fields: Fields): string {
  const id = fields.string("delegation_id", { max: 64 });
  if (!isId(id, "dlg")) throw badField(fields.pathOf("delegation_id"), "the id of a delegation");
  return id;
}
