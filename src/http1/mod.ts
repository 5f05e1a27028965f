/**
 * HTTP/1.1 as bytes: heads and bodies out of a wire and onto one, read strictly. Enters: bytes of anybody. Leaves: heads
 * and data that no two readers take for different things, or a fault that repeats none of it. It opens nothing, and knows
 * neither the gate nor the door.
 * @module
 */
export * from "./body.ts";
export * from "./head.ts";
export * from "./head_fault.ts";
export type { Wire } from "./wire.ts";
export * from "./wire_reader.ts";
