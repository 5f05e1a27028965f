/** What this host could confine, asked of the running kernel. */
export interface HullProbe {
  readonly os: string;
  readonly arch: string;
  /** Kernel release, such as `6.8.0-41-generic`; empty where it is not known. */
  readonly kernel: string;
  /** Landlock ABI version, 0 when there is none. */
  readonly landlockAbi: number;
  /** Whether a seccomp filter can be raised on every thread. */
  readonly seccomp: boolean;
  /** One sentence for each thing that is missing or weak, with how to get it; empty when all is there. */
  readonly reasons: readonly string[];
}

/** Asks the running kernel what it could confine; changes nothing and never throws. */
export function probeHull(): HullProbe {
  return { os: Deno.build.os, arch: Deno.build.arch, kernel: "", landlockAbi: 0, seccomp: false, reasons: ["Stub"] };
}
