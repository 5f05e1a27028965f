import * as z from "zod/mini";
import { manifestSchema } from "./schema.ts";

/** The JSON Schema of `capsule.jsonc` for editors, as `capsules/capsule.schema.json` holds it: two spaces, last newline. */
export function printJsonSchema(): string {
  const schema = z.toJSONSchema(manifestSchema(), { target: "draft-2020-12" });
  return `${JSON.stringify({ title: "boll capsule manifest", ...schema }, null, 2)}\n`;
}

if (import.meta.main) await Deno.stdout.write(new TextEncoder().encode(printJsonSchema()));
