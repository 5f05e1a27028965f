import fc from "fast-check";
import { NO_GRANTS } from "./defaults.ts";
import type { NetTarget } from "./net_entry.ts";
import { type Grants, type Limits, type MountGrant } from "./grants.ts";

/** Hosts that contain, equal, touch by prefix and miss one another. */
const host = fc.constantFrom("/h", "/h/a", "/h/a/b", "/h/ab", "/h/c", "/i");
const mode = fc.constantFrom("ro" as const, "rw" as const);
const limit = fc.integer({ min: 1, max: 5 });

/** Entries that are equal, contain one another, and miss by scheme, port or host; sorted. */
const ENTRIES = [
  "http://*.a.b",
  "https://*.a.b",
  "https://*.a.b:8443",
  "https://*.c.a.b",
  "https://a.b",
  "https://c.a.b",
  "https://d.c.a.b",
  "https://xa.b",
  "listen:8080",
  "tcp://127.0.0.1:53",
  "tcp://[::1]:53",
  "udp://127.0.0.1:53",
];

/** Any list of entries, in canonical form. */
export const anyNet: fc.Arbitrary<readonly string[]> = fc.subarray(ENTRIES);

/** Targets that the entries above allow, and near misses. */
export const netTargets: fc.Arbitrary<NetTarget> = fc.record({
  scheme: fc.constantFrom("https" as const, "http" as const, "tcp" as const, "udp" as const, "listen" as const),
  host: fc.constantFrom("a.b", "c.a.b", "d.c.a.b", "x.a.b", "xa.b", "A.b.", "127.0.0.1", "::1", "[::ffff:127.0.0.1]"),
  port: fc.constantFrom(443, 80, 8443, 53, 8080),
});

const limits: fc.Arbitrary<Limits> = fc.record({
  memory_mb: limit,
  deadline_ms: limit,
  cpu_seconds: limit,
  output_bytes: limit,
  open_files: limit,
  file_bytes: limit,
  work_bytes: limit,
}, { requiredKeys: ["memory_mb", "deadline_ms", "open_files", "file_bytes", "work_bytes"] });

function grants(mount: fc.Arbitrary<MountGrant>): fc.Arbitrary<Grants> {
  return fc.record({
    fs: fc.record({
      work: mode,
      mounts: fc.uniqueArray(mount, { selector: ({ guest }) => guest, maxLength: 4 }),
    }, { requiredKeys: ["mounts"] }),
    env: fc.uniqueArray(fc.constantFrom("LANG", "TZ", "A", "__proto__", "constructor"), { maxLength: 4 }),
    net: anyNet,
    spawn: fc.uniqueArray(fc.constantFrom("reader", "worker", "a", "constructor"), { maxLength: 4 }),
    stdio: fc.boolean(),
    clocks: fc.boolean(),
    random: fc.boolean(),
    limits,
    containment: fc.constantFrom("advisory" as const, "scoped" as const),
  }, { requiredKeys: ["fs", "env", "net", "spawn", "stdio", "clocks", "random", "limits"] });
}

const guest = fc.constantFrom("/a", "/b", "/c", "/__proto__");

/** Any grants; some mounts unbound. */
export const anyGrants: fc.Arbitrary<Grants> = grants(
  fc.record({ guest, mode, host }, { requiredKeys: ["guest", "mode"] }),
);

/** Grants as a run has them: every mount bound. */
export const boundGrants: fc.Arbitrary<Grants> = grants(fc.record({ guest, mode, host }));

/** The default grants with some fields replaced. */
export function grantsWith(fields: Partial<Grants>): Grants {
  return { ...NO_GRANTS, ...fields };
}
