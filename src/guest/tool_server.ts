import { findTool, type GuestTool, type LoadedComponent } from "../component/mod.ts";
import type { CallError, LoadedTool, ToCell, ToolCallMessage, ToolsLoad } from "../protocol/mod.ts";
import { delegationImports } from "../wasi/delegation.ts";
import { GuestTurns } from "./guest_turns.ts";
import type { HostCalls } from "./host_calls.ts";
import { type GuestPorts, openNetworkOf } from "./run_guest.ts";
import { type Emit, freshSlot, type InstanceSlot, makeServedInstance, type ServedInstance } from "./served_instance.ts";
import { ToolRun } from "./tool_run.ts";

/** A fresh instance that waits for its call. */
export interface ToolInstance extends ServedInstance {
  readonly tool: GuestTool;
}

/** What tools can ask of the outside. */
export interface ToolPorts extends Pick<GuestPorts, "onDenied" | "makeSymlink"> {
  readonly calls: HostCalls;
}

interface Served {
  readonly loaded: LoadedTool;
  readonly component: LoadedComponent;
  spare?: Promise<ToolInstance> | undefined;
}

/**
 * Calls in, answers out, in the guests' thread: a fresh instance for each call, so that none finds what another left and
 * a trap costs nobody else. One instance of each tool that was called is made ahead, while there is nothing else to do.
 */
export class ToolServer {
  readonly #load: ToolsLoad;
  readonly #ports: ToolPorts;
  readonly #emit: Emit;
  readonly #tools: ReadonlyMap<string, Served>;
  readonly #runs = new Map<number, ToolRun>();
  readonly #turns: GuestTurns;

  constructor(load: ToolsLoad, components: readonly LoadedComponent[], ports: ToolPorts, emit: Emit) {
    this.#load = load;
    this.#ports = ports;
    this.#emit = emit;
    this.#turns = new GuestTurns(emit);
    this.#tools = new Map(load.tools.map((loaded, at) => [loaded.name, { loaded, component: components[at]! }]));
  }

  /** Takes one message of the parent. */
  take(message: ToCell): void {
    if (message.type === "call" && "tool" in message) this.#begin(message);
    else if (message.type === "cancel") this.#runs.get(message.id)?.cancel();
  }

  #begin(call: ToolCallMessage): void {
    const served = this.#tools.get(call.tool);
    if (served === undefined) return this.#end(call.id, { error: NO_TOOL });
    const run = new ToolRun(call, this.#turns);
    this.#runs.set(call.id, run);
    const spare = served.spare ?? this.#instantiate(served, call.id);
    served.spare = undefined;
    run.run(spare).then((end) => {
      this.#runs.delete(call.id);
      this.#turns.end(call.id);
      this.#end(call.id, end);
      // Behind what waits already, so that the next call is not held up by the making of one for the next but one.
      setTimeout(() => this.#prepare(served));
    });
  }

  #end(id: number, { value = null, error }: { readonly value?: unknown; readonly error?: CallError }): void {
    this.#emit({ type: "done", id, value, ...(error === undefined ? {} : { error }) });
  }

  #prepare(served: Served): void {
    if (served.spare !== undefined) return;
    served.spare = this.#instantiate(served);
    served.spare.catch(() => {}); // whoever takes it is told
  }

  async #instantiate({ loaded, component }: Served, callId?: number): Promise<ToolInstance> {
    const slot = freshSlot(callId);
    const instance = await makeServedInstance({
      load: this.#load,
      loaded: component,
      memories: loaded.component.memories,
      args: [loaded.name],
      slot,
      ports: this.#ports,
      links: { ...await this.#openNetwork(), delegation: this.#hostOf(slot) },
      emit: this.#emit,
      turns: this.#turns.of(slot),
    });
    const tool = findTool(instance.exports);
    if (tool === undefined) throw new Error("Start the tool: the component exports no boll:capsule/tool");
    return { ...instance, tool };
  }

  #openNetwork() {
    const { calls, onDenied } = this.#ports;
    return openNetworkOf(this.#load, { onDenied, resolve: (name) => calls.resolve(name) });
  }

  /** `boll:capsule/host`, linked whatever the grants: who answers it knows them. */
  #hostOf(slot: InstanceSlot) {
    const { calls } = this.#ports;
    return delegationImports((request) => calls.delegate(request, slot.callId), {
      log: (level, text) => calls.tell({ name: "log", args: { call: slot.callId, level, text } }),
      emit: (text) => calls.tell({ name: "emit", args: { call: slot.callId, text } }),
      requestInput: (question) => calls.requestInput(slot.callId, question),
    });
  }
}

const NO_TOOL: CallError = { kind: "no_response", detail: "this cell has no tool of that name" };
