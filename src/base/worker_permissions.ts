import type { PermissionLists } from "./rules.ts";

/** Permissions as `new Worker` takes them. */
export type WorkerPermissions = Exclude<NonNullable<NonNullable<WorkerOptions["deno"]>["permissions"]>, string>;

/** Wall 2 as `new Worker` takes it. A list that is empty or not there is nothing, and so is every other permission. */
export function workerPermissions(
  { read = false, write = false, net = false }: Partial<PermissionLists>,
): WorkerPermissions {
  const list = (
    entries: readonly string[] | false,
  ) => (entries === false || entries.length === 0 ? false : [...entries]);
  return {
    read: list(read),
    write: list(write),
    net: list(net),
    env: false,
    run: false,
    ffi: false,
    sys: false,
    import: false,
  };
}
