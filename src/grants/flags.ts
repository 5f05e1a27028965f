import type { Containment } from "../base/mod.ts";
import type { MountMode } from "./grants.ts";

/** `--mount HOST:GUEST[:ro|rw]`; `mode` absent when not typed (the manifest's mode, else ro). */
export interface MountFlag {
  readonly host: string;
  readonly guest: string;
  readonly mode?: MountMode;
}

/** `--env NAME[=VALUE]`; `value` absent means the operator's own environment. */
export interface EnvFlag {
  readonly name: string;
  readonly value?: string;
}

/** What the operator typed. It adds (mounts, env, work) and narrows (the rest). */
export interface OperatorFlags {
  readonly mounts?: readonly MountFlag[];
  readonly env?: readonly EnvFlag[];
  readonly deadlineMs?: number;
  readonly memoryMb?: number;
  readonly containment?: Containment;
  /** `--work DIR`: the folder that appears at `/workdir`. */
  readonly work?: string;
}
/** STUB */
export function parseMountFlag(text: string): MountFlag {
  throw new Error(text);
}
/** STUB */
export function parseEnvFlag(text: string): EnvFlag {
  throw new Error(text);
}
