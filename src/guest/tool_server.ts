import { findTool, type GuestTool, type LoadedComponent } from "../component/mod.ts";
import { callsAtOnce, toolInstances } from "../grants/mod.ts";
import type { CallError, LoadedTool, ToCell, ToolCallMessage, ToolsLoad } from "../protocol/mod.ts";
import { delegationImports } from "../wasi/delegation.ts";
import { DeadMemory } from "./dead_memory.ts";
import { GuestTurns } from "./guest_turns.ts";
import type { HostCalls } from "./host_calls.ts";
import { type GuestPorts, openNetworkOf } from "./run_guest.ts";
import {
  type Emit,
  freshSlot,
  giveUp,
  type InstanceSlot,
  makeServedInstance,
  type ServedInstance,
} from "./served_instance.ts";
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
 * a trap costs nobody else. Of each tool that was called one is made ahead, as long as no more live than calls may be
 * under way: the memory of so many is what the process has.
 */
export class ToolServer {
  readonly #load: ToolsLoad;
  readonly #ports: ToolPorts;
  readonly #emit: Emit;
  readonly #tools: ReadonlyMap<string, Served>;
  readonly #runs = new Map<number, ToolRun>();
  /** Those that have a spare instance, the oldest first. */
  readonly #spared = new Set<Served>();
  readonly #places: number;
  readonly #turns: GuestTurns;
  readonly #dead = new DeadMemory();

  constructor(load: ToolsLoad, components: readonly LoadedComponent[], ports: ToolPorts, emit: Emit) {
    this.#load = load;
    this.#places = callsAtOnce(load.grants.limits);
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
    const run = new ToolRun(call, { turns: this.#turns, giveUp: this.#giveUp });
    this.#runs.set(call.id, run);
    const instance = this.#takeSpare(served) ?? this.#instantiate(served, call.id);
    run.run(instance).then((end) => {
      this.#runs.delete(call.id);
      this.#turns.end(call.id);
      this.#end(call.id, end);
      // Not at once: whoever reads the answer needs the processor, and what waits already is not held up.
      setTimeout(() => this.#prepare(served));
    });
  }

  #end(id: number, { value = null, error }: { readonly value?: unknown; readonly error?: CallError }): void {
    this.#emit({ type: "done", id, value, ...(error === undefined ? {} : { error }) });
  }

  #prepare(served: Served): void {
    if (served.spare !== undefined || this.#living >= this.#places) return;
    this.#spared.add(served);
    served.spare = this.#instantiate(served);
    served.spare.catch(() => {}); // whoever takes it is told
  }

  /** The spare instance of a tool; where it has none and no place is left, that of another is dropped. */
  #takeSpare(served: Served): Promise<ToolInstance> | undefined {
    const spare = served.spare;
    const isFull = this.#living > this.#places;
    const taken = spare !== undefined ? served : isFull ? this.#spared.values().next().value : undefined;
    if (taken === undefined) return undefined;
    if (taken !== served) taken.spare?.then((instance) => this.#giveUp(instance, false), () => {});
    this.#spared.delete(taken);
    taken.spare = undefined;
    return spare;
  }

  get #living(): number {
    return this.#runs.size + this.#spared.size;
  }

  readonly #giveUp = (instance: ToolInstance, hasReturned: boolean): void => {
    giveUp(instance, hasReturned);
    this.#dead.add(instance.memory);
  };

  /** Each that lives may grow to its cap: of what the process has beyond that the dead may have the rest. */
  #makeRoom(): void {
    const { limits } = this.#load.grants;
    const room = (toolInstances(limits) - this.#living) * limits.memory_mb * 1024 ** 2;
    if (this.#dead.bytes > room) this.#dead.collect();
  }

  async #instantiate({ loaded, component }: Served, callId?: number): Promise<ToolInstance> {
    this.#makeRoom();
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
