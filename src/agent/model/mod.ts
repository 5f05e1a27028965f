/**
 * The model behind an agent. In: where it is and what opens it, a transcript, tools. Out: what it said and what that cost,
 * or an error without a word of the credential. It touches no tool, no record and no terminal; of the network only the
 * endpoints named.
 * @module
 */
export * from "./model.ts";
export { type ModelClock, SYSTEM_MODEL_CLOCK } from "./model_clock.ts";
export { openModel } from "./open_model.ts";
export { parsePlaybook, type Playbook, type PlaybookCall, type PlaybookTurn } from "./scripted/playbook.ts";
