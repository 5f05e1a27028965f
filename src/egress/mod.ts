/**
 * Net grants to the gate: an HTTP proxy on loopback, in the cell's parent, through which all that a cell sends leaves.
 * Enters: `NetEntry` values and the bytes of a cell, which are an enemy's. Leaves: connections to addresses that were
 * checked, and a word about each. It opens no file, knows no session, reads no proxy variable, and never writes down a
 * credential or a body.
 * @module
 */
export { openGate } from "./gate.ts";
export type { Gate, GateCounts } from "./gate.ts";
export { DEFAULT_GATE_LIMITS } from "./options.ts";
export type {
  Connect,
  GateConnection,
  GateDenial,
  GateLimits,
  GateOptions,
  Resolve,
  ResolvedName,
  Upstream,
} from "./options.ts";
export type { GateError } from "./refusal.ts";
export type { Wire } from "../http1/mod.ts";
export { classifyAddress } from "./address_class.ts";
export type { AddressClass } from "./address_class.ts";
export { parseAddress } from "./address.ts";
