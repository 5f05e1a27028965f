/**
 * The other side of a door: asks an A2A agent in the words of its own, through the SDK's client. Enters: a URL, a token,
 * texts. Leaves: what became of tasks. A door of its own, since whoever has a door needs none of it.
 * @module
 */
export * from "./door_client.ts";
export type { TaskFile, TaskNews, TaskView } from "./task_news.ts";
