import { findHandler, type HandleRequest, type LoadedComponent } from "../component/mod.ts";
import type { HttpCall, ServeLoad, ToCell } from "../protocol/mod.ts";
import { linkHttpTypes, openNetwork } from "../wasi/network.ts";
import type { NetworkLink } from "../wasi/mod.ts";
import { accessOf, type GuestPorts } from "./run_guest.ts";
import { ServedCall } from "./served_call.ts";
import { type Emit, freshSlot, makeServedInstance, type ServedInstance } from "./served_instance.ts";

/** A fresh instance that waits for its request. */
export interface SpareInstance extends ServedInstance {
  readonly handle: HandleRequest;
}

/**
 * Requests in, responses out, in the guest's thread: a fresh instance for each, several at once, since each gives the
 * thread back where it waits. One instance is made ahead, while there is nothing else to do.
 */
export class HttpServer {
  readonly #load: ServeLoad;
  readonly #loaded: LoadedComponent;
  readonly #ports: GuestPorts;
  readonly #emit: Emit;
  readonly #calls = new Map<number, ServedCall>();
  #spare: Promise<SpareInstance> | undefined;

  constructor(load: ServeLoad, loaded: LoadedComponent, ports: GuestPorts, emit: Emit) {
    this.#load = load;
    this.#loaded = loaded;
    this.#ports = ports;
    this.#emit = emit;
  }

  /** Makes the first instance; rejects when the component cannot even start. */
  async warmUp(): Promise<void> {
    this.#spare = this.#instantiate();
    await this.#spare;
  }

  /** Takes one message of the parent. @throws `protocol.*` */
  take(message: ToCell): void {
    switch (message.type) {
      case "call":
        if ("request" in message) this.#begin(message);
        break;
      case "chunk":
        this.#calls.get(message.id)?.receive(message);
        break;
      case "credit":
        if (message.stream === "response") this.#calls.get(message.id)?.credit(message.bytes);
        break;
      case "cancel":
        this.#calls.get(message.id)?.cancel();
        break;
    }
  }

  #begin(call: HttpCall): void {
    const served = new ServedCall(call, this.#emit);
    this.#calls.set(call.id, served);
    const spare = this.#spare ?? this.#instantiate();
    this.#spare = undefined;
    served.run(spare).then((error) => {
      this.#calls.delete(call.id);
      this.#emit({ type: "done", id: call.id, value: null, ...(error === undefined ? {} : { error }) });
      // Behind what waits already, so that the next request is not held up by the making of one for the next but one.
      setTimeout(() => this.#prepare());
    });
  }

  #prepare(): void {
    if (this.#spare !== undefined) return;
    this.#spare = this.#instantiate();
    this.#spare.catch(() => {}); // whoever takes it is told
  }

  async #instantiate(): Promise<SpareInstance> {
    const load = this.#load;
    const instance = await makeServedInstance({
      load,
      loaded: this.#loaded,
      memories: load.component.memories,
      args: load.args,
      slot: freshSlot(),
      ports: this.#ports,
      links: { network: this.#openNetwork() },
      emit: this.#emit,
    });
    const handle = findHandler(instance.exports);
    if (handle === undefined) throw new Error("Start the guest: the component exports no wasi:http/incoming-handler");
    return { ...instance, handle };
  }

  #openNetwork(): NetworkLink {
    const access = accessOf(this.#load, this.#ports);
    return access === undefined ? linkHttpTypes() : openNetwork(access, this.#ports.onDenied);
  }
}
