import * as z from "zod/mini";
import { CAPSULE_NAME } from "./names.ts";

/** The grants block of `capsule.jsonc`, of a tool in it and of `boll.jsonc`; and the texts and counts of all three. */

const MAX_TEXT = 4096;

/** A text without NUL, for people or as a name. */
export const text = (description: string) =>
  z.string().check(z.maxLength(MAX_TEXT), z.regex(/^[^\0]*$/, "text without NUL"), z.meta({ description }));

/** A whole number from 1. */
export const count = (max: number, description: string) =>
  z.int().check(z.minimum(1), z.maximum(max), z.meta({ description }));

const mode = () => z.enum(["ro", "rw"]);

/** One place the capsule wants: `host` counts only in an own manifest. */
export const mountSchema = () =>
  z.strictObject({
    host: z.exactOptional(
      text("A folder, relative to this file. Counts only in an own manifest; otherwise bind it with --mount.").check(
        z.minLength(1),
      ),
    ),
    guest: z.string().check(
      z.maxLength(1024),
      z.regex(/^\/[^\p{Cc}:\\]+$/u, "an absolute path like /data, without ':', '\\' or control characters"),
      z.meta({
        description: "Where the guest sees it. Absolute; may not overlap another; /workdir and /runtime are reserved.",
      }),
    ),
    mode: z.exactOptional(mode().check(z.meta({ description: "ro (the default) or rw." }))),
  });

/** Limits of one run; absent ones have the defaults that each names. */
export const limitsSchema = () =>
  z.strictObject({
    memory_mb: z.exactOptional(count(16_384, "Linear memory of all modules together, MiB. Default 512.")),
    deadline_ms: z.exactOptional(count(2_147_483_647, "Wall time of the run, milliseconds. Default 600000.")),
    cpu_seconds: z.exactOptional(count(2_147_483_647, "CPU time, whole seconds. Default: no limit.")),
    output_bytes: z.exactOptional(
      count(Number.MAX_SAFE_INTEGER, "Bytes of stdout and stderr together. Default: none."),
    ),
    open_files: z.exactOptional(count(65_536, "Files open at once. Default 256.")),
    file_bytes: z.exactOptional(count(Number.MAX_SAFE_INTEGER, "Largest size of one file, bytes. Default 4 GiB.")),
    work_bytes: z.exactOptional(count(Number.MAX_SAFE_INTEGER, "Bytes written to files in all. Default 10 GiB.")),
  });

/** A grants block. Absent is denied, but for stdio, clocks and random. */
export const grantsSchema = () =>
  z.strictObject({
    fs: z.exactOptional(z.strictObject({
      work: z.exactOptional(mode().check(z.meta({ description: "The work folder, at /workdir." }))),
      mounts: z.exactOptional(z.array(mountSchema()).check(z.maxLength(64))),
    })),
    env: z.exactOptional(
      z.array(z.string().check(z.maxLength(256), z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "a variable's name"))).check(
        z.maxLength(256),
        z.meta({ description: "Names of environment variables the guest sees. Credentials are refused here." }),
      ),
    ),
    net: z.exactOptional(
      z.array(z.string().check(z.maxLength(512))).check(
        z.maxLength(256),
        z.meta({
          description: "Where the guest may connect: https://host[:port], http://host[:port], tcp://host:port, " +
            "udp://host:port, with *.example.com for every name below; and listen:PORT. Default: nowhere.",
        }),
      ),
    ),
    stdio: z.exactOptional(z.boolean().check(z.meta({ description: "stdin, stdout and stderr. Default true." }))),
    clocks: z.exactOptional(z.boolean().check(z.meta({ description: "wasi:clocks. Default true." }))),
    random: z.exactOptional(z.boolean().check(z.meta({ description: "wasi:random. Default true." }))),
    spawn: z.exactOptional(
      z.array(z.string().check(z.regex(CAPSULE_NAME, "a capsule's name, without a version: boll.lock has it"))).check(
        z.maxLength(64),
        z.meta({
          description:
            "Names of the capsules it may delegate to, each at the version and digest in boll.lock. Default: none.",
        }),
      ),
    ),
    limits: z.exactOptional(limitsSchema()),
    containment: z.exactOptional(
      z.enum(["advisory", "scoped"]).check(
        z.meta({ description: "The weakest containment this may run with; a host that cannot is refused." }),
      ),
    ),
  });

/** A grants block as written. */
export type DeclaredGrants = z.infer<ReturnType<typeof grantsSchema>>;
/** One mount as written. */
export type DeclaredMount = z.infer<ReturnType<typeof mountSchema>>;
/** A limits block as written. */
export type DeclaredLimits = z.infer<ReturnType<typeof limitsSchema>>;
