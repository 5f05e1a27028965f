import type { Grants } from "../../grants/mod.ts";
import { boundedHead } from "../../base/mod.ts";
import {
  type DelegateRefusal,
  type FromCell,
  type HostDelegateCall,
  MAX_QUESTION,
  MAX_REFUSAL,
  type RequestedInput,
  type ToolHostCall,
} from "../../protocol/mod.ts";
import { CellDelegations } from "../delegations/cell_delegations.ts";
import { deniedEvent } from "../cell/denied_event.ts";
import type { GuestLog } from "../cell/guest_log.ts";
import type { Denied } from "../cell/run_cell.ts";
import type { RunNetwork } from "../network/run_network.ts";
import type { ServingCell } from "../cell/serving_cell.ts";
import type { ToolCall } from "./tool_call.ts";
import type { ToolCellsOptions } from "./tool_cells.ts";
import { hasAllOf } from "./has_all_of.ts";

/** What {@link ToolHost} is made of. */
export interface ToolHostOptions
  extends Pick<ToolCellsOptions, "trace" | "delegator" | "requestInput" | "onLog" | "onEmit" | "onDenied"> {
  /** The tools' own. */
  readonly grants: Grants;
  /** Their capsule's. */
  readonly capsule: Grants;
  readonly log: GuestLog;
}

/** Denials of one set of tools that are passed on: what comes after is an attacker's flood. */
const MAX_DENIALS = 100;
/** Questions of one set of tools that wait for their answers: a call has one at a time. */
const MAX_QUESTIONS = 8;

type Cell = ServingCell<ToolCall>;
type InputRequest = { readonly id: number } & Extract<ToolHostCall, { name: "request-input" }>;

/** What the tools of one set of grants say and ask beside their answers; all of it is an enemy's. */
export class ToolHost {
  readonly #options: ToolHostOptions;
  readonly #delegations: CellDelegations | undefined;
  #denials = 0;
  #questions = 0;

  constructor(options: ToolHostOptions) {
    this.#options = options;
    const { delegator } = options;
    this.#delegations = delegator === undefined ? undefined : new CellDelegations(delegator);
  }

  readonly onDenied = (denied: Denied): void => {
    if (++this.#denials > MAX_DENIALS) return;
    this.#options.trace.append("denied", deniedEvent(denied));
    this.#options.onDenied?.(denied);
  };

  /** Takes one message of a cell; what is to be answered is answered there. */
  take(message: FromCell, cell: Cell, network: RunNetwork | undefined): void {
    switch (message.type) {
      case "denied":
        return this.onDenied({ grant: message.grant, asked: message.asked, allow: message.allow });
      case "log": {
        const { stream, text } = message;
        return this.#options.log.appendOf(cell.callOf(message.id)?.input.tool ?? "?", { stream, text });
      }
      case "host_call":
        if (message.name === "resolve") {
          network?.answer(message).then((result) => cell.answer({ type: "host_result", ...result }));
        } else if (message.name === "delegate") void this.#delegate(message, cell);
        else if (message.name === "request-input") void this.#ask(message, cell);
        else this.#hear(message, cell);
    }
  }

  #hear(word: Exclude<ToolHostCall, { name: "request-input" }>, cell: Cell): void {
    const call = openCall(cell, word.args.call);
    if (call === undefined || !call.isHeard) return;
    const { tool } = call.input;
    const { text } = word.args;
    if (word.name === "emit") return this.#options.onEmit?.({ tool, text });
    const { level } = word.args;
    this.#options.log.appendOf(tool, { level, text });
    this.#options.onLog?.({ tool, level, text });
  }

  async #delegate(asked: HostDelegateCall, cell: Cell): Promise<void> {
    const call = openCall(cell, asked.call);
    const refused = call === undefined ? refusal(NO_CALL) : this.#refusal(asked.args.capsule);
    if (call === undefined || refused !== undefined || this.#delegations === undefined) {
      return cell.answer({ type: "host_result", id: asked.id, error: refused ?? NOBODY_STARTS });
    }
    await call.hold(this.#delegations.answer(asked, (message) => {
      if (message.type === "host_result" || message.type === "delegation_end") cell.answer(message);
    }));
  }

  /** The delegator measures by the capsule's grants: a tool that has less must not get more through it. */
  #refusal(wanted: string): DelegateRefusal | undefined {
    const { grants, capsule } = this.#options;
    if (grants.spawn.length === 0) {
      const name = boundedHead(JSON.stringify(wanted), 300);
      return refusal(
        `it needs the grant spawn, with ${name}, in the capsule's and in the tool's own block if it has one`,
      );
    }
    if (hasAllOf(grants, capsule)) return undefined;
    return refusal(
      "the tool's own grants are narrower than its capsule's, by which a child is measured; give it all of them",
    );
  }

  async #ask({ id, args }: InputRequest, cell: Cell): Promise<void> {
    cell.answer({ type: "host_result", id, ...await this.#answerOf(openCall(cell, args.call), args.question) });
  }

  async #answerOf(call: ToolCall | undefined, question: string): Promise<RequestedInput> {
    const { requestInput } = this.#options;
    if (call === undefined) return refusedInput(NO_CALL);
    if (requestInput === undefined) return refusedInput("nobody can be asked here");
    if (this.#questions >= MAX_QUESTIONS) return refusedInput("too many questions wait");
    this.#questions++;
    try {
      const asked = { tool: call.input.tool, question, signal: call.signal };
      const answer = await call.hold(requestInput(asked));
      if ("refused" in answer) return refusedInput(answer.refused);
      if (answer.text.length > MAX_QUESTION) {
        return refusedInput(`the answer is longer than ${MAX_QUESTION} characters`);
      }
      return { value: { input: answer.text } };
    } catch {
      return { error: { kind: "failed", message: "Request input: the runtime could not ask" } };
    } finally {
      this.#questions--;
    }
  }
}

/** The call of that number, while somebody waits for its end. */
function openCall(cell: Cell, id: number | undefined): ToolCall | undefined {
  const call = id === undefined ? undefined : cell.callOf(id);
  return call?.isOpen ? call : undefined;
}

const NO_CALL = "the call that it is for is over";

const NOBODY_STARTS = refusal("this run may delegate to nobody");

function refusal(why: string): DelegateRefusal {
  return { kind: "refused", message: `Delegate: ${why}` };
}

function refusedInput(why: string): RequestedInput {
  return { error: { kind: "refused", message: boundedHead(`Request input: ${why}`, MAX_REFUSAL) } };
}
