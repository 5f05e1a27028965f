import { HOSTED } from "../hosted.ts";
import { InputStream } from "../input_stream.ts";
import { failureOfGate, failureOfWire } from "../net/gate_error.ts";
import type { OpenWire } from "../net/gate_way.ts";
import { PulledSource } from "../net/pulled_source.ts";
import { QueuedSink } from "../net/queued_sink.ts";
import { closeQuietly, writeWhole } from "../net/wire.ts";
import { OutputStream } from "../output_stream.ts";

/** An open connection as a pair of streams, each shut on its own. */
export class TcpConnection {
  readonly input: InputStream;
  readonly output: OutputStream;
  readonly #open: OpenWire;
  readonly #source: PulledSource;
  readonly #sink = new QueuedSink();
  readonly #sent: Promise<void>;

  constructor(open: OpenWire) {
    this.#open = open;
    this.#source = new PulledSource(() => this.#pull(), () => {});
    this.input = new InputStream(HOSTED, this.#source);
    this.output = new OutputStream(HOSTED, this.#sink);
    this.#sent = this.#send();
  }

  /** Nothing more is read. */
  shutReceive(): void {
    this.#source.cut();
  }

  /** Nothing more is written: what is queued goes out, and then the end. */
  shutSend(): void {
    this.#sink.end();
  }

  /** Lets go of it: what is queued goes out first, then it is closed. Settles when that is done, or the wire is gone. */
  async close(): Promise<void> {
    this.shutReceive();
    this.shutSend();
    await this.#sent;
    closeQuietly(this.#open.wire);
  }

  /** {@link close}, and waits for the other side's end before: then everything has arrived. */
  async linger(): Promise<void> {
    this.shutSend();
    await this.#sent;
    try {
      while (await this.#pull() !== undefined);
    } catch { /* it is gone */ }
    closeQuietly(this.#open.wire);
  }

  /** Closes it at once; what is queued is lost. */
  destroy(): void {
    this.shutReceive();
    this.#sink.fail(failureOfGate("closed"));
    closeQuietly(this.#open.wire);
  }

  async #pull(): Promise<Uint8Array | undefined> {
    const { reader } = this.#open;
    try {
      if (reader.buffered.length === 0 && !await reader.fill()) return undefined;
      const piece = reader.buffered;
      reader.take(piece.length);
      return piece;
    } catch (error) {
      throw failureOfWire(error);
    }
  }

  async #send(): Promise<void> {
    const { wire } = this.#open;
    try {
      for (let piece = await this.#sink.take(); piece !== undefined; piece = await this.#sink.take()) {
        await writeWhole(wire, piece);
      }
      await wire.closeWrite();
    } catch (error) {
      this.#sink.fail(failureOfWire(error));
    }
  }
}
