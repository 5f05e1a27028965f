import * as z from "zod/mini";
import { get, problem } from "./cross_checks.ts";
import type { Problem, ReadDocument } from "./document.ts";
import { count } from "./grants_schema.ts";

/** How a capsule takes tasks. What is not there, `boll serve` decides. */
export const lifecycleSchema = () =>
  z.strictObject({
    accept: z.exactOptional(
      z.enum(["none", "single", "queue"]).check(
        z.meta({
          description: "none: it is not served. single: one task, then the session ends with it. Default queue.",
        }),
      ),
    ),
    queue_depth: z.exactOptional(count(9_999, "Tasks that may wait at the door, the next is rejected. Default 256.")),
    input_timeout_ms: z.exactOptional(
      count(604_800_000, "How long an agent's question waits for its answer, milliseconds."),
    ),
    idempotent: z.exactOptional(
      z.boolean().check(
        z.meta({
          description: "A task that was under way when its session ended is run again. Default false: it failed.",
        }),
      ),
    ),
  });

/** A `lifecycle` block as written. */
export type Lifecycle = z.infer<ReturnType<typeof lifecycleSchema>>;

/** What would bind nothing. */
export function checkLifecycle(document: ReadDocument): Problem[] {
  const lifecycle = get(document.value, "lifecycle");
  const has = (key: string) => get(lifecycle, key) !== undefined;
  const accept = get(lifecycle, "accept");
  const useless = (key: string, why: string) =>
    has(key) ? [problem(document, `lifecycle.${key}`, `${why}; remove it, it would have no effect`)] : [];
  return [
    ...(accept === "single" || accept === "none" ? useless("queue_depth", `nothing waits with accept ${accept}`) : []),
    ...(accept === "none" ? useless("idempotent", "no task comes with accept none") : []),
    ...(get(document.value, "inference") === undefined ? useless("input_timeout_ms", "a command asks nobody") : []),
  ];
}
