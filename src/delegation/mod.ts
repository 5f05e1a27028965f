/**
 * Delegation: a call and its parent's authority → a child's outcome. In: what is asked for, what the parent has, how the
 * child ended and what it left. Out: authority that fits inside the parent's or a refusal, the record and the notice of
 * the ending, the answer, and the text that the delegating agent reads. It starts no process and raises no wall; what a
 * child wrote is data to it, read only when the child is dead.
 * @module
 */
export type { AnswerPlaces } from "./ending/answer_file.ts";
export * from "./ending/decide_completion.ts";
export * from "./delegation_ids.ts";
export * from "./fit_child.ts";
export * from "./ending/hand_over.ts";
export * from "./ending/keep_answer.ts";
export * from "./launcher.ts";
export type * from "./launcher_options.ts";
export * from "./notice/notice.ts";
export * from "./notice/post_notice.ts";
export * from "./ending/read_answer.ts";
export * from "./ending/report_completion.ts";
export * from "./ending/settle_delegation.ts";
export * from "./spawnable.ts";
