import {
  type DelegateCall,
  type DelegationEnd,
  findDelegateFault,
  type HostCall,
  type HostResult,
  MAX_QUESTION,
  type ToolHostCall,
} from "../protocol/mod.ts";
import type { DelegationRefusal, DelegationRequest, InputAnswer, StartedDelegation } from "../wasi/delegation.ts";
import type { Resolution } from "../wasi/mod.ts";

/** What is asked of the parent, before it has its number. */
type Question = HostCall extends infer Call ? Call extends HostCall ? Omit<Call, "id"> : never : never;

/** The calls of a guest's host to the parent that are under way, by number, and its delegations, by their id. */
export class HostCalls {
  readonly #send: (call: HostCall) => void;
  readonly #pending = new Map<number, (result: HostResult) => void>();
  readonly #delegations = new Map<string, PromiseWithResolvers<string>>();
  #nextId = 0;

  constructor(send: (call: HostCall) => void) {
    this.#send = send;
  }

  /** The addresses of a granted name, as the parent's gate says. Never rejects. */
  async resolve(name: string): Promise<Resolution> {
    const result = await this.#ask({ name: "resolve", args: { name } });
    if ("value" in result && "addresses" in result.value) return { ok: true, addresses: result.value.addresses };
    return { ok: false, error: "error" in result && typeof result.error === "string" ? result.error : "closed" };
  }

  /**
   * Asks the parent to start a child; what it would not even read is refused here. `call` is the number of the tool's
   * call that it is for. Never rejects.
   */
  async delegate(request: DelegationRequest, call?: number): Promise<StartedDelegation | DelegationRefusal> {
    const args = callOf(request);
    const fault = findDelegateFault(args);
    if (fault !== undefined) return { kind: "refused", message: `Delegate: ${fault}` };
    const result = await this.#ask({ name: "delegate", args, ...(call === undefined ? {} : { call }) });
    if ("error" in result && typeof result.error === "object") return result.error;
    const id = "value" in result && "delegation_id" in result.value ? result.value.delegation_id : "";
    const delegation = this.#delegations.get(id);
    if (delegation === undefined) return { kind: "failed", message: "Delegate: the runtime gave no answer" };
    return { id, end: delegation.promise.finally(() => this.#delegations.delete(id)) };
  }

  /** Asks a person, for the tool's call of that number. Never rejects. */
  async requestInput(call: number, question: string): Promise<InputAnswer> {
    if (question.length > MAX_QUESTION) {
      return { kind: "refused", message: `Request input: the question is longer than ${MAX_QUESTION} characters` };
    }
    const result = await this.#ask({ name: "request-input", args: { call, question } });
    if ("error" in result && typeof result.error === "object") return result.error;
    if ("value" in result && "input" in result.value) return { text: result.value.input };
    return { kind: "failed", message: "Request input: the runtime gave no answer" };
  }

  /** Says a word to which there is no answer. */
  tell(word: Exclude<ToolHostCall, { name: "request-input" }>): void {
    this.#send({ id: this.#nextId++, ...word });
  }

  #ask(question: Question): Promise<HostResult> {
    const id = this.#nextId++;
    return new Promise((settle) => {
      this.#pending.set(id, settle);
      this.#send({ id, ...question });
    });
  }

  /** Takes an answer; one that nobody waits for is dropped. */
  settle(result: HostResult): void {
    const settle = this.#pending.get(result.id);
    if (settle === undefined) return;
    this.#pending.delete(result.id);
    // Here, and not when the call goes on: the end may be the next message.
    if ("value" in result && "delegation_id" in result.value) {
      this.#delegations.set(result.value.delegation_id, Promise.withResolvers());
    }
    settle(result);
  }

  /** Takes the end of a delegation; one of another is dropped. */
  end({ delegation_id, text }: Pick<DelegationEnd, "delegation_id" | "text">): void {
    this.#delegations.get(delegation_id)?.resolve(text);
  }
}

function callOf({ deadlineMs, ...call }: DelegationRequest): DelegateCall {
  return { ...call, ...(deadlineMs === undefined ? {} : { deadline_ms: deadlineMs }) };
}
