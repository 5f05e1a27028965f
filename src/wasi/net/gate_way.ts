import { failureOfGate, failureOfTls, failureOfWire } from "./gate_error.ts";
import { bytesOf, readHead, valuesOf } from "./head.ts";
import type { NetworkAccess } from "./network_access.ts";
import { closeQuietly, type Wire, WireReader, writeWhole } from "./wire.ts";

/** A host (no brackets) and a port. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** An open connection and what has been read from it. */
export interface OpenWire {
  readonly wire: Wire;
  readonly reader: WireReader;
}

/** Connections through the gate of this run: the one place that says the credential. */
export class GateWay {
  readonly #access: NetworkAccess;

  constructor(access: NetworkAccess) {
    this.#access = access;
  }

  /** The field that a plain request through the gate carries; for the wire alone. */
  get authorization(): string {
    return `Basic ${btoa(this.#access.gate?.credential ?? "")}`;
  }

  /** A bare connection to the gate. The signal, here as below, ends its making and not what is made. @throws WireFailure */
  async openPlain(signal: AbortSignal): Promise<OpenWire> {
    const { gate } = this.#access;
    if (gate === undefined) throw failureOfGate("closed");
    try {
      const wire = await Deno.connect({ hostname: "127.0.0.1", port: gate.port, signal });
      wire.setNoDelay(true);
      return { wire, reader: new WireReader(wire) };
    } catch {
      throw failureOfGate("closed");
    }
  }

  /** A tunnel to a place. @throws WireFailure */
  async openTunnel(scheme: "https" | "tcp", place: Place, signal: AbortSignal): Promise<OpenWire> {
    const open = await this.openPlain(signal);
    const release = closeOnAbort(open.wire, signal);
    try {
      await this.#ask(scheme, formatPlace(place), open);
      return open;
    } catch (error) {
      closeQuietly(open.wire);
      throw failureOfWire(error);
    } finally {
      release();
    }
  }

  /** A tunnel with TLS in it, end to end. @throws WireFailure */
  async openTls(place: Place, signal: AbortSignal): Promise<OpenWire> {
    const { wire, reader } = await this.openTunnel("https", place, signal);
    if (reader.buffered.length > 0) {
      closeQuietly(wire);
      throw failureOfTls(new Error("the server speaks first"));
    }
    let secure: Wire = wire;
    let release = () => {};
    try {
      const tls = await Deno.startTls(wire as Deno.TcpConn, {
        hostname: place.host,
        caCerts: [...this.#access.caCerts],
        alpnProtocols: ["http/1.1"],
      });
      secure = tls;
      release = closeOnAbort(tls, signal);
      await tls.handshake();
      return { wire: tls, reader: new WireReader(tls) };
    } catch (error) {
      closeQuietly(secure);
      throw failureOfTls(error);
    } finally {
      release();
    }
  }

  async #ask(scheme: string, authority: string, { wire, reader }: OpenWire): Promise<void> {
    const fields = [`Host: ${authority}`, `Proxy-Authorization: ${this.authorization}`, `x-boll-scheme: ${scheme}`];
    await writeWhole(wire, bytesOf(`CONNECT ${authority} HTTP/1.1\r\n${fields.join("\r\n")}\r\n\r\n`));
    const head = await readHead(reader);
    if (/^HTTP\/1\.1 200 /.test(head.line)) return;
    throw failureOfGate(valuesOf(head.fields, "x-boll-error")[0] ?? "");
  }
}

/** `host:port`, an IPv6 address in brackets. */
export function formatPlace({ host, port }: Place): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** A closed connection frees whoever waits on it. Gives how to let go of it. */
function closeOnAbort(wire: Wire, signal: AbortSignal): () => void {
  const close = () => closeQuietly(wire);
  if (signal.aborted) close();
  signal.addEventListener("abort", close, { once: true });
  return () => signal.removeEventListener("abort", close);
}
