import { CapsuleError } from "../../base/mod.ts";

/** How long an answered connection may take to close when the service ends, ms. */
const CLOSE_MS = 1_000;

/** An open port that answers requests. It listens when it is made, before this process confines itself. */
export class Listener {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #abort = new AbortController();
  #shutdown: Promise<void> | undefined;

  /** @throws `service.listen_failed` */
  constructor(
    { hostname, port }: { readonly hostname: string; readonly port: number },
    handler: (request: Request) => Promise<Response>,
  ) {
    const failed = () => new Response("Internal Server Error\n", { status: 500 });
    try {
      const options = { hostname, port, signal: this.#abort.signal, onListen: () => {}, onError: failed };
      this.#server = Deno.serve(options, handler);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new CapsuleError("service.listen_failed", `Listen on ${hostname} port ${port}: ${why}`, { cause: error });
    }
  }

  get address(): Deno.NetAddr {
    return this.#server.addr;
  }

  /** Takes no more connections; settles when all that were open have been answered and closed. */
  shutdown(): Promise<void> {
    return this.#shutdown ??= this.#server.shutdown();
  }

  /** Closes at once, or soon after {@link shutdown}: a server that shuts down takes no abort any more. */
  async close(): Promise<void> {
    if (this.#shutdown === undefined) this.#abort.abort();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, CLOSE_MS));
    await Promise.race([this.#server.finished, late]);
    clearTimeout(timer);
  }
}
