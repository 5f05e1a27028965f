/**
 * The control socket of a running tree, and the client of it. In: a {@link TreeControl}. Out: frames on a unix socket
 * that only its owner reaches.
 * @module
 */
export { askTree, followTree } from "./tree_client.ts";
export { type TreeControl, TreeSocket } from "./tree_socket.ts";
