/** The part of `@std/jsonc` that this project uses, typed. Throws `SyntaxError`. */
export function parse(text: string): unknown;
