import { assert } from "@std/assert";
import { parseNetEntry } from "../manifest/mod.ts";
import type { Grants, Limits } from "./grants.ts";
import { matchesNet } from "./net_entry.ts";
import { isInside } from "./paths.ts";

/** Written apart from narrow: whether each thing that `inner` allows is allowed by `outer` too. */
export function assertInside(inner: Grants, outer: Grants): void {
  const writes = { undefined: 0, ro: 1, rw: 2 };
  assert(writes[`${inner.fs.work}`] <= writes[`${outer.fs.work}`], "work");
  for (const mount of inner.fs.mounts) {
    const above = outer.fs.mounts.find(({ guest }) => guest === mount.guest);
    assert(above !== undefined && writes[mount.mode] <= writes[above.mode], "mount");
    if (above.host !== undefined) assert(mount.host !== undefined && isInside(mount.host, above.host), "host");
  }
  for (const name of inner.env) assert(outer.env.includes(name), "env");
  const above = outer.net.map(parseNetEntry);
  for (const { scheme, host, port, wildcard, text } of inner.net.map(parseNetEntry)) {
    const isSame = above.some((one) => one.text === text);
    assert(isSame || matchesNet(above, { scheme, host: wildcard ? `below.${host}` : host, port }), `net ${text}`);
  }
  for (const name of inner.spawn) assert(outer.spawn.includes(name), "spawn");
  for (const name of ["stdio", "clocks", "random"] as const) assert(!inner[name] || outer[name], name);
  const names = ["memory_mb", "deadline_ms", "cpu_seconds", "output_bytes", "open_files", "file_bytes", "work_bytes"];
  for (const name of names as (keyof Limits)[]) {
    assert((inner.limits[name] ?? Infinity) <= (outer.limits[name] ?? Infinity), name);
  }
  const floors = { undefined: 0, advisory: 1, scoped: 2 };
  assert(floors[`${inner.containment}`] >= floors[`${outer.containment}`], "containment");
}
