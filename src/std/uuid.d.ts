/** The part of `@std/uuid/v7` that this project uses, typed. */
export function generate(timestamp?: number): string;
