import { hashToken } from "../records/mod.ts";
import type { HttpRequest } from "./http/http_message.ts";
import type { Credentials } from "./options.ts";
import { ANONYMOUS, type TaskOrigin } from "./work.ts";

/** Who sends a request. */
export interface Caller {
  readonly principal: string;
  readonly origin: TaskOrigin;
  /** Sees the tasks of all, not only its own. */
  readonly isOwner: boolean;
}

/** Header by which a sender makes less of itself than its token does. */
export const ORIGIN_HEADER = "x-boll-task-origin";

/** Whoever shows the owner's token. */
export const OWNER = "owner";
const RESERVED: readonly string[] = [OWNER, ANONYMOUS];

/** The sender of a request by its token; undefined when it shows none that counts. */
export function identify(request: HttpRequest, credentials: Credentials): Caller | undefined {
  const shown = readToken(request.header("authorization"));
  const caller = shown === undefined ? undefined : callerOf(shown, credentials);
  if (caller !== undefined) return lowered(caller, request.header(ORIGIN_HEADER));
  // A wrong token is a mistake that should be seen, at an open door too.
  if (!credentials.isOpen || shown !== undefined) return undefined;
  return { principal: ANONYMOUS, origin: "peer", isOwner: false };
}

function readToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const [, token] = /^Bearer +([A-Za-z0-9._~+/=-]{1,512})$/i.exec(authorization) ?? [];
  return token ?? "";
}

/** In a time that depends on none of the tokens: all are compared, each to its end. */
function callerOf(token: string, { ownerTokenHash, peers }: Credentials): Caller | undefined {
  const hash = hashToken(token);
  let caller: Caller | undefined;
  for (const peer of peers) {
    // A peer that is called as somebody else is would have what is theirs.
    if (isSame(hash, peer.tokenHash) && !RESERVED.includes(peer.name)) {
      caller = { principal: peer.name, origin: "peer", isOwner: false };
    }
  }
  if (ownerTokenHash !== undefined && isSame(hash, ownerTokenHash)) {
    caller = { principal: OWNER, origin: "user", isOwner: true };
  }
  return caller;
}

function isSame(found: string, wanted: string): boolean {
  let difference = found.length ^ wanted.length;
  for (let at = 0; at < found.length; at++) difference |= found.charCodeAt(at) ^ (wanted.charCodeAt(at) | 0);
  return difference === 0;
}

/** An owner may speak as `system`, which waits behind the others, or as a peer; what nobody knows is a peer's. */
function lowered(caller: Caller, claimed: string | undefined): Caller {
  if (claimed === undefined || claimed === caller.origin || caller.origin === "peer") return caller;
  return { ...caller, origin: claimed === "system" ? "system" : "peer" };
}
