import type { Containment } from "../base/mod.ts";

/** May a place be written? */
export type MountMode = "ro" | "rw";

/** One mount: the folder `host` (real path; absent while unbound) appears to the guest as `guest` (absolute). */
export interface MountGrant {
  readonly guest: string;
  readonly mode: MountMode;
  readonly host?: string;
}

/** Limits of one run. Absent optional ones mean none. */
export interface Limits {
  /** Linear memory of all modules of a component together, MiB. */
  readonly memory_mb: number;
  readonly deadline_ms: number;
  readonly cpu_seconds?: number;
  /** Bytes of stdout and stderr together. */
  readonly output_bytes?: number;
  readonly open_files: number;
  /** Largest size of one file, bytes. */
  readonly file_bytes: number;
  /** Bytes written to files in all. */
  readonly work_bytes: number;
}

/** The whole authority of a run: JSON-safe, free of secrets, recorded as it is. Nothing is granted by default. */
export interface Grants {
  readonly fs: {
    /** The work folder at `/workdir`. */
    readonly work?: MountMode;
    readonly mounts: readonly MountGrant[];
  };
  /** Names whose values reach `wasi:cli/environment` (values travel beside, never here). */
  readonly env: readonly string[];
  /** Canonical entries ({@link parseNetEntry}), sorted by code unit, each once. Empty is no network. */
  readonly net: readonly string[];
  /** Names of the capsules that it may delegate to, each at the version and digest of the lock. Empty is none. */
  readonly spawn: readonly string[];
  readonly stdio: boolean;
  readonly clocks: boolean;
  readonly random: boolean;
  readonly limits: Limits;
  /** The containment floor: weaker is refused before anything starts. Absent is no floor. */
  readonly containment?: Containment;
}

/** Limits of a run whose manifest is silent. */
export const DEFAULT_LIMITS: Limits = {
  memory_mb: 512,
  deadline_ms: 600_000,
  open_files: 256,
  file_bytes: 4 * 1024 ** 3,
  work_bytes: 10 * 1024 ** 3,
};
