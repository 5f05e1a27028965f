/** A way to a door that the test cuts and holds: what a network does. */
export class CuttingRelay implements Disposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #target: number;
  readonly #open = new Set<Deno.Conn>();
  #held = Promise.withResolvers<void>();
  /** Connections so far. */
  count = 0;

  constructor(target: number) {
    this.#target = target;
    this.#held.resolve();
    this.#accept();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#listener.addr as Deno.NetAddr).port}/`;
  }

  /** Ends every connection that there is. */
  cut(): void {
    for (const connection of this.#open) close(connection);
    this.#open.clear();
  }

  /** Nothing goes on from now on. */
  hold(): void {
    this.#held = Promise.withResolvers();
  }

  release(): void {
    this.#held.resolve();
  }

  [Symbol.dispose](): void {
    this.release();
    close(this.#listener);
    this.cut();
  }

  async #accept(): Promise<void> {
    for await (const near of this.#listener) {
      this.count++;
      const far = await Deno.connect({ hostname: "127.0.0.1", port: this.#target });
      for (const connection of [near, far]) this.#open.add(connection);
      this.#copy(near, far);
      this.#copy(far, near);
    }
  }

  async #copy(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(16 * 1024);
    try {
      for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
        await this.#held.promise;
        for (let sent = 0; sent < count;) sent += await to.write(buffer.subarray(sent, count));
      }
      to.close();
    } catch { /* it was cut */ }
  }
}

function close(resource: { close(): void }): void {
  try {
    resource.close();
  } catch { /* it is */ }
}
