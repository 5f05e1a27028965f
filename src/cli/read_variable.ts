import { CapsuleError } from "../base/mod.ts";
import type { Context } from "./verb.ts";

/**
 * A variable of this process's own environment.
 * @throws `usage.bad_value` for a value that is not UTF-8: the place it names is another than the one that could be read
 */
export function readVariable(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    throw new CapsuleError(
      "usage.bad_value",
      `Read variable ${name}: its value is not UTF-8; set another, or unset it`,
      {
        cause: error,
      },
    );
  }
}

/** A variable that only says how things should look: one that cannot be read is set to something, and no fault. */
export function readTaste(context: Pick<Context, "readVariable">, name: string): string | undefined {
  try {
    return context.readVariable(name);
  } catch {
    return "?";
  }
}
