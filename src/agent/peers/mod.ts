/**
 * The A2A agents elsewhere that an agent may send messages to. Enters: messages of a model. Leaves: what became of them,
 * all of it a stranger's word. Only a session with peers loads it.
 * @module
 */
export { type PeerMessage, Peers } from "./peers.ts";
