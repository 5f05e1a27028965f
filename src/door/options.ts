import type { DoorEvent } from "./door_event.ts";
import type { Clock } from "./clock.ts";
import type { NoticeReceiver } from "./judge_notice.ts";
import type { DoorLimits } from "./limits.ts";
import type { DoorWork } from "./work.ts";

/** What a client is told of the capsule. No host path, no secret. */
export interface DoorCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly skills: readonly DoorSkill[];
  /** Media types that parts of a message may have; `image/*` and `*` stand for many. Default: `text/plain`. */
  readonly inputModes?: readonly string[];
  /** Media types of what comes back. Default: `text/plain`. */
  readonly outputModes?: readonly string[];
}

/** One thing that a capsule can do. */
export interface DoorSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** Whom the door lets in. Only hashes: SHA-256 of the token's text, lower-case hex. */
export interface Credentials {
  /** Nobody needs a token; who shows none is a peer named `anonymous`. */
  readonly isOpen: boolean;
  /** Absent: nobody comes in as the owner. */
  readonly ownerTokenHash?: string;
  readonly peers: readonly PeerCredential[];
}

/** A token that somebody else holds. */
export interface PeerCredential {
  readonly name: string;
  readonly tokenHash: string;
}

/** The session behind a door, for children that say they have ended. */
export interface CompletionReceiver extends NoticeReceiver {
  /** A child of that delegation says that it has ended: time to look, nothing more. */
  onCompletion(delegationId: string): void;
}

/** Where tasks are kept: with this process, or in a folder of mode 0700 that a later one opens again. */
export type TaskStorage = { readonly kind: "memory" } | { readonly kind: "folder"; readonly path: string };

/** What a door is opened with. */
export interface DoorOptions {
  /** Port 0: the system chooses. */
  readonly listen: { readonly hostname: string; readonly port: number };
  /** Names beside the bound address that a `Host` may say: `example.org` with any port, or `example.org:8443`. */
  readonly names: readonly string[];
  readonly card: DoorCard;
  readonly work: DoorWork;
  /** Files of a message are texts, whatever their type, of so many bytes together at most; absent: as the card has it. */
  readonly maxTextBytes?: number;
  readonly credentials: Credentials;
  /** `single`: one task, then {@link Door.done}. `queue`: one after the other. */
  readonly accept: "single" | "queue";
  /** Tasks that may wait; the next one is rejected. */
  readonly queueDepth: number;
  readonly storage: TaskStorage;
  /** Whether a task that an earlier session was at is run again; else it has failed. */
  readonly isIdempotent: boolean;
  /** Who hears of completions; absent: this session waits for none. */
  readonly completions?: CompletionReceiver;
  /** Told of what happened, in the order in which it did. */
  readonly record: (event: DoorEvent) => void;
  /** Why the session cannot take work, for `/readyz`, which strangers read; default it can. */
  readonly unready?: () => string | undefined;
  /** More for `/metrics`: name (`boll_…`) → value now. */
  readonly gauges?: () => Readonly<Record<string, number>>;
  /** What the card says instead of the bound address, when others come in by another: ends in `/`. */
  readonly publicUrl?: string;
  readonly limits?: Partial<DoorLimits>;
  readonly clock?: Clock;
}

/** An open door. Disposing of it drains it. */
export interface Door extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/`: what the card says, too. */
  readonly url: string;
  readonly address: Deno.NetAddr;
  /** Settles when no more work will come: after the one task of `single`, or once the door is drained. */
  readonly done: Promise<void>;
  /** From now on others come in; who is in stays. */
  setCredentials(credentials: Credentials): void;
  /**
   * Takes no more messages and is not ready; aborts what runs, writes how it ended, tells its readers, closes. Tasks that
   * wait stay in a folder for the next session, and are rejected in memory. Settles within `graceMs` (default 10 000).
   */
  drain(graceMs?: number): Promise<void>;
}
