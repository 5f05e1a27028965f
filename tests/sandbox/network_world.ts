/**
 * The places that attempts on the network are about: granted ones beside those that are not, all on loopback, each
 * keeping every byte that came. They answer whatever comes, so that nobody waits.
 * @module
 */
import { createSocket } from "node:dgram";
import { openGate } from "../../src/egress/mod.ts";
import { parseNetEntry } from "../../src/grants/mod.ts";
import { addressesOf, makeAnswer, readQuestion, refuseQuic } from "./datagram_answers.ts";
import type { NetWorld } from "./network_attempt.ts";

/** Place → all that came there, one character per byte; of `names` the questions, one a line. */
export type Arrivals = Readonly<Record<string, string>>;

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** A world for one run. */
export class OpenWorld implements AsyncDisposable {
  readonly world: NetWorld;
  readonly #arrivals: Record<string, string> = {};
  readonly #listeners: {
    readonly listener: Deno.Listener;
    readonly accepting: Promise<void>;
    place: Deno.ConnectOptions | Deno.UnixConnectOptions;
  }[] = [];
  readonly #open = new Set<Deno.Conn>();
  readonly #serving: Promise<void>[] = [];
  readonly #datagrams: { close(): void; flush(): Promise<void> }[] = [];
  #gate: AsyncDisposable | undefined;

  private constructor(world: NetWorld) {
    this.world = world;
  }

  static async open(
    folders: { readonly outside: string; readonly work: string },
    withNames: boolean,
  ): Promise<OpenWorld> {
    const mutable = {} as { -readonly [Name in keyof NetWorld]: NetWorld[Name] };
    const opened = new OpenWorld(mutable);
    for (const name of ["tcp", "tls", "other", "proxy"] as const) mutable[name] = opened.#listen(name, "127.0.0.1");
    [mutable.granted] = opened.#listenOnBoth("granted", "127.0.0.1", "host", "127.0.0.2");
    [mutable.inside] = opened.#listenOnBoth("inside", "127.0.0.1", "inside", "::1");
    const abstract = `\0boll-escape-${crypto.randomUUID()}`;
    mutable.unix = { outside: `${folders.outside}/s.sock`, work: `${folders.work}/s.sock`, abstract };
    for (const path of Object.values(mutable.unix)) opened.#listenUnix(path);
    mutable.udp = (await opened.#bind("udp", "127.0.0.1", 0)).port;
    await opened.#bind("quic", "127.0.0.1", mutable.granted, refuseQuic);
    if (withNames) mutable.nameServer = await opened.#serveNames();
    const gate = openGate({
      entries: [parseNetEntry(`http://127.0.0.1:${mutable.other}`)],
      onConnection: () => {},
      onDenied: () => {},
    });
    opened.#gate = gate;
    mutable.otherGate = { port: gate.port, credential: gate.authorization };
    return opened;
  }

  /** Everything that came; the runs are over, so what they sent stands in some queue at the latest. */
  async settle(): Promise<Arrivals> {
    await this.#gate?.[Symbol.asyncDispose]();
    this.#gate = undefined;
    await Promise.all([
      ...this.#listeners.map(({ place }) => this.#passThrough(place)),
      ...this.#datagrams.map((socket) => socket.flush()),
    ]);
    await Promise.all(this.#serving);
    return this.#arrivals;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { listener } of this.#listeners) listener.close();
    for (const connection of this.#open) closeQuietly(connection);
    for (const socket of this.#datagrams) socket.close();
    await Promise.all(this.#listeners.map(({ accepting }) => accepting));
    await Promise.all(this.#serving);
    await this.#gate?.[Symbol.asyncDispose]();
  }

  /** Connections are accepted in their order: behind one of our own all others have been. */
  async #passThrough(place: Deno.ConnectOptions | Deno.UnixConnectOptions): Promise<void> {
    const connection = await (place.transport === "unix" ? Deno.connect(place) : Deno.connect(place));
    await connection.closeWrite();
    await connection.read(new Uint8Array(1));
    connection.close();
  }

  #listen(name: string, hostname: string, port = 0): number {
    const listener = Deno.listen({ hostname, port });
    this.#accept(name, listener, { hostname, port: listener.addr.port });
    return listener.addr.port;
  }

  /** The same port at two addresses. */
  #listenOnBoth(first: string, firstHost: string, second: string, secondHost: string): [port: number] {
    for (;;) {
      const one = Deno.listen({ hostname: firstHost, port: 0 });
      const { port } = one.addr;
      try {
        this.#listen(second, secondHost, port);
      } catch (error) {
        one.close();
        if (error instanceof Deno.errors.AddrInUse) continue;
        throw error;
      }
      this.#accept(first, one, { hostname: firstHost, port });
      return [port];
    }
  }

  #listenUnix(path: string): void {
    this.#accept("unix", Deno.listen({ transport: "unix", path }), { transport: "unix", path });
  }

  #accept(name: string, listener: Deno.Listener, place: Deno.ConnectOptions | Deno.UnixConnectOptions): void {
    const accepting = (async () => {
      for await (const connection of listener) this.#serving.push(this.#serve(name, connection));
    })();
    this.#listeners.push({ listener, accepting, place });
  }

  async #serve(name: string, connection: Deno.Conn): Promise<void> {
    this.#open.add(connection);
    const buffer = new Uint8Array(65_536);
    try {
      for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
        const text = String.fromCharCode(...buffer.subarray(0, count));
        this.#keep(name, text);
        const [, to] = /^GET \/to\?(\S+) /.exec(text) ?? [];
        const answer = to === undefined ? ANSWER : `HTTP/1.1 302 Found\r\nLocation: ${to}\r\nContent-Length: 0\r\n\r\n`;
        await connection.write(new TextEncoder().encode(answer));
      }
    } catch { /* whoever came has gone */ }
    this.#open.delete(connection);
    closeQuietly(connection);
  }

  #keep(name: string, text: string): void {
    this.#arrivals[name] = (this.#arrivals[name] ?? "") + text;
  }

  async #bind(name: string, hostname: string, port: number, answer?: (query: Uint8Array) => Uint8Array | undefined) {
    const socket = createSocket("udp4");
    const flushed = Promise.withResolvers<void>();
    socket.on("message", (data: Uint8Array, from: { address: string; port: number }) => {
      const text = String.fromCharCode(...data);
      if (text === FLUSH) return flushed.resolve();
      if (name !== "names") this.#keep(name, text);
      const reply = answer?.(data);
      if (reply !== undefined) socket.send(reply, from.port, from.address);
    });
    await new Promise<void>((settle, reject) => {
      socket.once("error", reject);
      socket.bind(port, hostname, () => settle());
    });
    const bound = socket.address().port;
    this.#datagrams.push({
      close: () => void socket.close(),
      flush: () => {
        socket.send(FLUSH, bound, hostname);
        return flushed.promise;
      },
    });
    return { port: bound };
  }

  /** On an address of loopback that no other test has. */
  async #serveNames(): Promise<string> {
    const [a, b, c] = crypto.getRandomValues(new Uint8Array(3));
    const address = `127.${64 + a! % 128}.${b}.${1 + c! % 254}`;
    const asked = new Set<string>();
    await this.#bind("names", address, 53, (query) => {
      const { name, type, end } = readQuestion(query);
      this.#keep("names", `${name}\n`);
      const isFirst = !asked.has(name + type);
      asked.add(name + type);
      return makeAnswer(query, end, addressesOf(name, type, isFirst));
    });
    return address;
  }
}

const FLUSH = "flush";

function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch { /* closed */ }
}
