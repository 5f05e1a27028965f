/**
 * The loop of an agent: a turn and its ports in, how the turn ended and what it added to the transcript out. Pure: it
 * knows no process, no network, no clock and no file, and decides nothing of what a tool may do.
 * @module
 */
export * from "./ports.ts";
export * from "./run_turn.ts";
export * from "./system_prompt.ts";
export { plainDescription } from "./told_tools.ts";
export { FINISH } from "./finish_tool.ts";
export { freshState, type TurnEnd, type TurnInput, type TurnState } from "./turn_state.ts";
export { boundedText } from "./bounded_content.ts";
export { aborted } from "./tool_round.ts";
