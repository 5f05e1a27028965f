import { CapsuleError, errorCodeOf } from "../../base/mod.ts";
import { DoorClient, type DoorClientOptions, type TaskView } from "../../door/client/mod.ts";
import type { Remote } from "../../protocol/control/mod.ts";
import { deniedEvent, openNetwork, type RunNetwork, type SessionWork, upstreamOf } from "../../session/role.ts";
import { HeardTask } from "./heard_task.ts";

/** The most that one peer may say in answer to a message, bytes on the wire. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** How long a peer is given to hear that nobody waits for its task any more, ms. */
const CANCEL_MS = 1_000;

/** One message to a peer. */
export interface PeerMessage {
  readonly peer: string;
  readonly text: string;
  /** The conversation that it goes on with. */
  readonly contextId?: string;
  /** The task that asked for it. */
  readonly taskId?: string;
  /** Aborts when nobody waits for the answer any more: the peer's task is cancelled then, if it hears of it. */
  readonly signal: AbortSignal;
}

/**
 * The A2A agents elsewhere that a session may send messages to. What goes there leaves by a gate of the session's own, which
 * knows its grants and records each connection; what opens a peer's door goes to its origin alone.
 */
export class Peers implements AsyncDisposable {
  readonly #remotes: readonly Remote[];
  readonly #network: RunNetwork;
  readonly #over = new AbortController();
  readonly #sends = new Set<Promise<unknown>>();

  private constructor(remotes: readonly Remote[], network: RunNetwork) {
    this.#remotes = remotes;
    this.#network = network;
  }

  /** Opens the gate: before this process confines itself. */
  static async open(work: SessionWork): Promise<Peers> {
    const { payload, plan: { grants }, trace } = work;
    // What is sent to peers is HTTP.
    const net = grants.net.filter((entry) => /^https?:/.test(entry));
    const network = await openNetwork(
      { ...upstreamOf(payload), trace, plan: { grants: { ...grants, net } } },
      (denied) => trace.append("denied", deniedEvent(denied)),
    );
    if (network === undefined) {
      throw new CapsuleError("payload.unsupported", "Start a session with a2a_peers: its grants have no net");
    }
    return new Peers(payload.a2a_peers, network);
  }

  get names(): readonly string[] {
    return this.#remotes.map(({ name }) => name);
  }

  /** What this process needs to reach the gate. */
  get network(): RunNetwork["supervisor"] {
    return this.#network.supervisor;
  }

  /** Sends a message, and waits until its task rests. @throws `door.*`, and the signal's reason when it aborts */
  async send({ signal, ...message }: PeerMessage): Promise<TaskView> {
    const sent = this.#send({ ...message, signal: AbortSignal.any([signal, this.#over.signal]) });
    this.#sends.add(sent);
    try {
      return await sent;
    } finally {
      this.#sends.delete(sent);
    }
  }

  /** Nobody waits for anything any more; whoever works for it is told so. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await Promise.allSettled(this.#sends);
    await this.#network[Symbol.asyncDispose]();
  }

  async #send({ peer, text, contextId, taskId, signal }: PeerMessage): Promise<TaskView> {
    using client = await DoorClient.open(this.#optionsFor(peer, signal));
    const heard = new HeardTask();
    try {
      const message = {
        text,
        ...(contextId === undefined ? {} : { contextId }),
        ...(taskId === undefined ? {} : { taskId }),
      };
      for await (const news of client.stream(message)) heard.hear(news);
    } catch (error) {
      // Nobody hears of it any more, also when it said too much. Until a peer takes the answer to its question, that waits.
      const left = heard.id ?? (signal.aborted ? taskId : undefined);
      if (left !== undefined) await this.#cancel(peer, left);
      throw error;
    }
    return heard.task ?? fail(peer);
  }

  async #cancel(peer: string, taskId: string): Promise<void> {
    try {
      using client = await DoorClient.open(this.#optionsFor(peer, AbortSignal.timeout(CANCEL_MS)));
      await client.cancel(taskId);
    } catch (error) {
      if (errorCodeOf(error) === undefined) throw error;
    }
  }

  #optionsFor(peer: string, signal: AbortSignal): DoorClientOptions {
    const { url, token } = this.#remotes.find(({ name }) => name === peer)!;
    const { gate_port, credential, ca_certs } = this.#network.cell;
    const [username = "", password = ""] = credential.split(":");
    return {
      url,
      ...(token === undefined ? {} : { token }),
      signal,
      maxBytes: MAX_ANSWER_BYTES,
      via: {
        proxy: { url: `http://127.0.0.1:${gate_port}`, basicAuth: { username, password } },
        caCerts: [...ca_certs],
      },
    };
  }
}

function fail(peer: string): never {
  throw new CapsuleError("door.refused", `Ask ${peer}: it made no task of the message`);
}
