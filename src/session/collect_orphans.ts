import { ProcessTree } from "../hull/mod.ts";
import { isOwnProcess } from "../supervisor/mod.ts";

const INTERVAL_MS = 1_000;

/**
 * As the first process of a container, which every process of it comes to that lost its parent, takes away those that
 * have died; until it is disposed. Any other process has nothing to collect.
 */
export function collectOrphans(): Disposable {
  if (Deno.pid !== 1 || Deno.build.os !== "linux") return { [Symbol.dispose]() {} };
  const processes = ProcessTree.open();
  const timer = setInterval(() => processes.reapAdopted(isOwnProcess), INTERVAL_MS);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      processes.close();
    },
  };
}
