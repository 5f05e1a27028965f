/** What the figures were measured on, without names of hosts or people. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly system: string;
  readonly deno: string;
}

/** This machine. */
export function describeMachine(): Machine {
  const { total } = Deno.systemMemoryInfo();
  return {
    processor: readProcessor(),
    cores: navigator.hardwareConcurrency,
    memoryGib: Math.round(total / 2 ** 30),
    system: `${Deno.build.os} ${Deno.osRelease()} ${Deno.build.arch}`,
    deno: Deno.version.deno,
  };
}

function readProcessor(): string {
  if (Deno.build.os !== "linux") return Deno.build.arch;
  return /^model name\s*:\s*(.*)$/m.exec(Deno.readTextFileSync("/proc/cpuinfo"))?.[1] ?? Deno.build.arch;
}
