import { findHandler, type HandleRequest, instantiate, type LoadedComponent, MemoryWatch } from "../component/mod.ts";
import type { FromCell, HttpCall, ServeLoad, ToCell } from "../protocol/mod.ts";
import { closedSink, closedSource, createWasi, type NetworkLink, type WasiHost } from "../wasi/mod.ts";
import { linkHttpTypes, openNetwork } from "../wasi/network.ts";
import { LogLines } from "./log_lines.ts";
import { accessOf, type GuestPorts, preopensOf } from "./run_guest.ts";
import { ServedCall } from "./served_call.ts";

/** A fresh instance that waits for its request. */
export interface SpareInstance {
  readonly host: WasiHost;
  readonly memory: MemoryWatch;
  readonly handle: HandleRequest;
  /** The call that it serves, once it has one: where its output goes, and whether it is given up. */
  readonly slot: InstanceSlot;
}

/** Ties an instance to its call. */
export interface InstanceSlot {
  callId: number;
  isStopped: boolean;
  readonly logs: LogLines[];
}

/** What a server tells the parent. */
export type Emit = (message: FromCell) => void;

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
    const slot: InstanceSlot = { callId: 0, isStopped: false, logs: [] };
    const host = this.#createHost(slot);
    const memory = new MemoryWatch(this.#load.component.memories);
    const exports = await instantiate(this.#loaded, host.imports, {
      onInstance: (instance, module) => memory.observe(instance, module),
      isStopped: () => slot.isStopped,
    });
    const handle = findHandler(exports);
    if (handle === undefined) throw new Error("Start the guest: the component exports no wasi:http/incoming-handler");
    return { host, memory, handle, slot };
  }

  #createHost(slot: InstanceSlot): WasiHost {
    const { grants, args, env } = this.#load;
    const { limits } = grants;
    return createWasi({
      args,
      env,
      preopens: preopensOf(this.#load),
      stdin: closedSource(),
      stdout: grants.stdio ? this.#openLog(slot, "stdout") : closedSink(),
      stderr: grants.stdio ? this.#openLog(slot, "stderr") : closedSink(),
      terminal: { stdin: false, stdout: false, stderr: false },
      ...(grants.fs.work === undefined ? {} : { cwd: "/workdir" }),
      interfaces: { clocks: grants.clocks, random: grants.random },
      limits: {
        openFiles: limits.open_files,
        fileBytes: limits.file_bytes,
        workBytes: limits.work_bytes,
        ...(limits.output_bytes === undefined ? {} : { outputBytes: limits.output_bytes }),
      },
      network: this.#openNetwork(),
      onDenied: this.#ports.onDenied,
      makeSymlink: this.#ports.makeSymlink,
    });
  }

  #openNetwork(): NetworkLink {
    const access = accessOf(this.#load, this.#ports);
    return access === undefined ? linkHttpTypes() : openNetwork(access, this.#ports.onDenied);
  }

  #openLog(slot: InstanceSlot, stream: "stdout" | "stderr"): LogLines {
    const log = new LogLines((text) => this.#emit({ type: "log", id: slot.callId, stream, text }));
    slot.logs.push(log);
    return log;
  }
}
