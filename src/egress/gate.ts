import { closeQuietly, WireReader } from "../http1/mod.ts";
import { printableLine } from "../base/mod.ts";
import { isIpLiteral, matchesNet, normalizeHost } from "../grants/mod.ts";
import { Deadline } from "./deadline.ts";
import { connectBySystem, Dialer } from "./dialer.ts";
import { Exchange } from "./exchange.ts";
import { Names } from "./names.ts";
import { DEFAULT_GATE_LIMITS, type GateOptions, type ResolvedName } from "./options.ts";
import { Refusal, refusalReply } from "./refusal.ts";
import { answerLast, type GateParts, serveConnection } from "./serve.ts";

/** What came to a gate and did not get in. */
export interface GateCounts {
  /** Connections without this gate's credential: strangers on this machine, or another cell. */
  readonly unauthorized: number;
  /** Connections whose first bytes were no request. */
  readonly malformed: number;
  /** Connections beyond the limit. */
  readonly overLimit: number;
}

/** A gate that listens on `127.0.0.1:port` until it is closed. */
export interface Gate extends AsyncDisposable {
  readonly port: number;
  /** For basic authentication; 128 random bits. It goes to the cell in its first frame and never to a guest. */
  readonly credential: { readonly user: string; readonly password: string };
  /** The value of `Proxy-Authorization` that says the credential. */
  readonly authorization: string;
  readonly counts: GateCounts;
  /**
   * The addresses of a granted name that its entries let a guest connect to. A later `CONNECT` to one of them counts as
   * one to the name.
   */
  resolveName(name: string): Promise<ResolvedName>;
  /**
   * Stops listening, closes every connection, and waits until each is recorded.
   *
   * @throws what `onConnection` or `onDenied` threw first; the gate closed itself then.
   */
  close(): Promise<void>;
}

const USER = "boll";
const ACCEPT_PAUSE_MS = 50;

/**
 * Opens a gate on a free port of 127.0.0.1. It listens when this returns, so that the caller can raise its own kernel
 * wall next.
 */
export function openGate(options: GateOptions): Gate {
  return new ListeningGate(options);
}

class ListeningGate implements Gate {
  readonly credential = { user: USER, password: randomHex(16) };
  readonly authorization = `Basic ${btoa(`${USER}:${this.credential.password}`)}`;
  readonly port: number;
  readonly #options: GateOptions;
  readonly #counts = { unauthorized: 0, malformed: 0, overLimit: 0 };
  readonly #listener: Deno.TcpListener;
  readonly #parts: GateParts;
  readonly #names: Names;
  readonly #live = new Map<Exchange, Promise<void>>();
  readonly #turnedAway = new Map<Exchange, Promise<void>>();
  readonly #accepting: Promise<void>;
  #isShut = false;
  #fault: { readonly error: unknown } | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
    const limits = { ...DEFAULT_GATE_LIMITS, ...options.limits };
    this.#names = new Names(options.resolve);
    const { entries, connect = connectBySystem, upstream } = options;
    this.#parts = {
      authorization: this.authorization,
      limits,
      dialer: new Dialer({ entries, names: this.#names, connect, upstream, timeoutMs: limits.connectTimeoutMs }),
      budget: { rest: limits.bytes ?? Infinity },
      failures: new Map(),
      counts: this.#counts,
      now: options.now ?? (() => performance.now()),
      record: (connection) => options.onConnection(connection),
      deny: (denial) => options.onDenied(denial),
    };
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.port = this.#listener.addr.port;
    this.#accepting = this.#accept();
  }

  get counts(): GateCounts {
    return { ...this.#counts };
  }

  async resolveName(text: string): Promise<ResolvedName> {
    const name = normalizeHost(text);
    const targets = name === undefined ? [] : this.#targetsOf(name);
    if (name === undefined || targets.length === 0) return this.#refuseName(name, text);
    const deadline = new Deadline(this.#parts.limits.connectTimeoutMs);
    try {
      const found = isIpLiteral(name) ? [name] : await this.#names.lookUp(name, deadline.signal);
      const allowed = new Set(targets.flatMap((target) => this.#parts.dialer.permitted(found, target)));
      if (allowed.size === 0) return { ok: false, error: "destination-ip-prohibited" };
      this.#names.learn(name, [...allowed]);
      return { ok: true, addresses: [...allowed] };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { ok: false, error: error.error };
    } finally {
      deadline.clear();
    }
  }

  async close(): Promise<void> {
    this.#shut();
    await this.#accepting;
    await Promise.all([...this.#live.values(), ...this.#turnedAway.values()]);
    if (this.#fault !== undefined) throw this.#fault.error;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Every way in which the entries allow this host. */
  #targetsOf(host: string) {
    const { entries } = this.#options;
    return entries.filter(({ scheme }) => scheme !== "listen").flatMap(({ scheme, port }) => {
      const entry = matchesNet(entries, { scheme, host, port });
      return entry === undefined ? [] : [{ scheme, host, port, entry }];
    });
  }

  #refuseName(name: string | undefined, text: string): ResolvedName {
    const asked = `resolve ${name ?? printableLine(text, 80)}`;
    this.#guard(() => this.#options.onDenied({ grant: "net", asked, ...(name && { allow: `tcp://${name}:PORT` }) }));
    return { ok: false, error: "denied" };
  }

  async #accept(): Promise<void> {
    while (!this.#isShut) {
      try {
        const connection = await this.#listener.accept();
        if (this.#isShut) closeQuietly(connection);
        else this.#receive(connection);
      } catch {
        // Out of descriptors, or a client that went before it was here. Closed: the loop ends.
        if (!this.#isShut) await new Promise((settle) => setTimeout(settle, ACCEPT_PAUSE_MS));
      }
    }
  }

  #receive(connection: Deno.TcpConn): void {
    if (this.#live.size >= this.#parts.limits.connections) return this.#turnAway(connection);
    connection.setNoDelay(true);
    const exchange = new Exchange(this.#parts.budget, connection);
    const served = serveConnection(this.#parts, exchange, connection)
      .catch((error) => this.#fail(error))
      .finally(() => this.#live.delete(exchange));
    this.#live.set(exchange, served);
  }

  /** Says 503 to one too many, without reading a byte of it. */
  #turnAway(connection: Deno.TcpConn): void {
    this.#counts.overLimit++;
    if (this.#turnedAway.size >= this.#parts.limits.connections) return closeQuietly(connection);
    const exchange = new Exchange({ rest: 0 }, connection);
    const { connections } = this.#parts.limits;
    const refusal = new Refusal("connection-limit-reached", `Enter the gate: ${connections} connections are open`);
    const answered = answerLast(
      { wire: connection, reader: new WireReader(connection), exchange },
      refusalReply(refusal),
    )
      .finally(() => {
        exchange.end();
        this.#turnedAway.delete(exchange);
      });
    this.#turnedAway.set(exchange, answered);
  }

  /** Runs a callback of the owner's; a record that cannot be kept closes the gate. */
  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#fault ??= { error };
    this.#shut();
  }

  #shut(): void {
    if (this.#isShut) return;
    this.#isShut = true;
    this.#listener.close();
    for (const exchange of [...this.#live.keys(), ...this.#turnedAway.keys()]) exchange.end("closed");
  }
}

function randomHex(bytes: number): string {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
