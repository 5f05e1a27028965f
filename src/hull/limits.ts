import { CPU_GRACE_SECONDS, type ProcessBounds, type ProcessLimits } from "../base/mod.ts";
import type { Libc } from "./libc.ts";
import { succeed } from "./landlock.ts";

const RESOURCE = { cpu: 0, fileSize: 1, data: 2, core: 4, openFiles: 7 } as const;
const SIGXFSZ = 25;
/** Above every limit. */
const UNCHANGED = 2n ** 64n - 1n;

/** One resource limit as `prlimit64` takes it. */
export interface ResourceLimit {
  readonly resource: number;
  readonly soft: bigint;
  readonly hard: bigint;
}

/** The kernel's limits for `limits`. Core dumps are always off: they would hold what the guest may not keep. */
export function toResourceLimits(limits: ProcessLimits): ResourceLimit[] {
  const wanted: ResourceLimit[] = [{ resource: RESOURCE.core, soft: 0n, hard: 0n }];
  const add = (resource: number, value: number | undefined, beyond = 0) => {
    if (value === undefined) return;
    if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`Process limit ${value}: must be 1 or more`);
    wanted.push({ resource, soft: BigInt(value), hard: BigInt(value + beyond) });
  };
  add(RESOURCE.cpu, limits.cpuSeconds, 1); // SIGXCPU names the reason; SIGKILL a second later if it was ignored
  add(RESOURCE.fileSize, limits.fileBytes);
  add(RESOURCE.data, limits.dataBytes);
  add(RESOURCE.openFiles, limits.openFiles);
  return wanted;
}

/** Sets `limits` for this process and all it starts; a lower limit that is there already stays. @throws `hull.failed` */
export function applyLimits(libc: Libc, limits: ProcessLimits): void {
  const wanted = toResourceLimits(limits);
  libc.ignoreSignal(SIGXFSZ); // else a limit, ours or the caller's, kills instead of failing the write
  for (const { resource, soft, hard } of wanted) setLimit(libc, resource, soft, hard);
}

/** Sets `bounds` for this process; the soft ones a child may raise again. @throws `hull.failed` */
export function applyBounds(libc: Libc, { dataBytes, cpuSeconds, nice }: ProcessBounds): void {
  if (dataBytes !== undefined) setLimit(libc, RESOURCE.data, BigInt(dataBytes), UNCHANGED);
  if (cpuSeconds !== undefined) {
    setLimit(libc, RESOURCE.cpu, BigInt(cpuSeconds), BigInt(cpuSeconds + CPU_GRACE_SECONDS));
  }
  if (nice !== undefined) libc.setNice(nice);
}

function setLimit(libc: Libc, resource: number, soft: bigint, hard: bigint): void {
  const now = new BigUint64Array(2);
  succeed(libc.call("prlimit64", 0, resource, 0, now), `Read resource limit ${resource}`);
  const ceiling = now[1]!;
  const next = new BigUint64Array([soft < ceiling ? soft : ceiling, hard < ceiling ? hard : ceiling]);
  succeed(libc.call("prlimit64", 0, resource, next, 0), `Set resource limit ${resource} to ${next[0]}`);
}
