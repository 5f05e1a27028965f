import type { Clock } from "../clock.ts";
import { HttpConnection } from "./http_connection.ts";
import type { HttpReply, HttpRequest } from "./http_message.ts";
import type { DoorLimits } from "../limits.ts";

/** What a server is made of. */
export interface HttpServerOptions {
  readonly listener: Deno.TcpListener;
  readonly limits: DoorLimits;
  readonly clock: Clock;
  /** Answers one request. Never rejects. */
  handle(request: HttpRequest): Promise<HttpReply>;
}

/** After a failure to accept (no descriptor is left, mostly), ms. */
const ACCEPT_AGAIN_MS = 50;

/** Takes connections and bounds them: how many there are, and how many of them are of clients that nobody knows. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #connections = new Map<HttpConnection, Promise<void>>();
  /** When they came, in that order. */
  readonly #unknown = new Map<HttpConnection, number>();
  #wake: (() => void) | undefined;
  readonly #accepting: Promise<void>;
  #sockets = 0;
  #isClosing = false;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#accepting = this.#accept();
  }

  /** Open connections. */
  get connections(): number {
    return this.#sockets;
  }

  /** Connections from which no token came yet. */
  get unknownConnections(): number {
    return this.#unknown.size;
  }

  /** Takes no more connections and no further requests; what is still under way after that time is cut off. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#wake?.();
    try {
      this.#options.listener.close();
    } catch { /* it is closed */ }
    await this.#accepting;
    for (const connection of this.#connections.keys()) connection.finish();
    const unwatch = this.#options.clock.after(graceMs, () => {
      for (const connection of this.#connections.keys()) connection.close();
    });
    await Promise.all(this.#connections.values());
    unwatch();
  }

  async #accept(): Promise<void> {
    while (!this.#isClosing) {
      try {
        const wire = await this.#options.listener.accept();
        await this.#makeRoom();
        this.#serve(wire);
      } catch {
        if (this.#isClosing) return;
        await new Promise<void>((resolve) => this.#options.clock.after(ACCEPT_AGAIN_MS, resolve));
      }
    }
  }

  #serve(wire: Deno.TcpConn): void {
    const { limits, clock, handle } = this.#options;
    if (this.#sockets >= limits.connections) return wire.close();
    wire.setNoDelay(true);
    const connection = new HttpConnection({ limits, clock, handle, onVouched: (known) => this.#forget(known) }, wire);
    this.#unknown.set(connection, clock.now());
    this.#sockets++;
    const served = connection.serve().then(() => {
      this.#connections.delete(connection);
      this.#forget(connection);
      connection.released.then(() => this.#sockets--);
    });
    this.#connections.set(connection, served);
  }

  /**
   * Until one more unknown client may come in. The oldest goes for it, not the newest, and not before it had time to show
   * its token: a crowd that knows it all comes in, and who does not know it can hold nothing for long.
   */
  async #makeRoom(): Promise<void> {
    const { limits, clock } = this.#options;
    while (this.#unknown.size >= limits.unknownConnections && !this.#isClosing) {
      const [[oldest, since]] = this.#unknown as unknown as [[HttpConnection, number]];
      const leftMs = since + limits.unknownMs - clock.now();
      if (leftMs <= 0) {
        this.#forget(oldest);
        oldest.close();
        return;
      }
      await new Promise<void>((resolve) => {
        const unwatch = clock.after(leftMs, resolve);
        this.#wake = () => (unwatch(), resolve());
      });
    }
  }

  #forget(connection: HttpConnection): void {
    if (this.#unknown.delete(connection)) this.#wake?.();
  }
}
