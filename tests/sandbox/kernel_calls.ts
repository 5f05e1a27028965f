import { CALLS, DENIED, numberOn, type SyscallNumbers } from "../../src/hull/syscalls.ts";

/** A system call that the filter judges or refuses. */
export type KernelCall =
  | keyof typeof CALLS
  | { [Group in keyof typeof DENIED]: keyof typeof DENIED[Group] }[keyof typeof DENIED];

/** Name → number on this machine, -1 where it has none. */
export const KERNEL_CALLS: Readonly<Record<string, number>> = Object.fromEntries(
  [CALLS, ...Object.values(DENIED)].flatMap((group) =>
    Object.entries<SyscallNumbers>(group).map(([name, numbers]) => [
      name,
      numberOn(Deno.build.arch as "x86_64" | "aarch64", numbers),
    ])
  ),
);
