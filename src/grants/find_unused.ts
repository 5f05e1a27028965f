import type { Grants } from "./grants.ts";

/** Grants that no import of the component could ever use. */
export function findUnused(grants: Grants, imports: readonly string[]): string[] {
  const isImported = (interfaces: RegExp) => imports.some((name) => interfaces.test(name));
  const http = isImported(/^wasi:http\/outgoing-handler(@|$)/);
  const sockets = isImported(/^wasi:sockets\//);
  const files = isImported(/^wasi:filesystem\/preopens(@|$)/);
  return [
    ...(grants.stdio && !isImported(/^wasi:cli\/(stdin|stdout|stderr)(@|$)/) ? ["stdio"] : []),
    ...(grants.clocks && !isImported(/^wasi:clocks\//) ? ["clocks"] : []),
    ...(grants.random && !isImported(/^wasi:random\//) ? ["random"] : []),
    ...(grants.env.length > 0 && !isImported(/^wasi:cli\/environment(@|$)/) ? ["env"] : []),
    ...grants.net.filter((entry) => !(/^https?:/.test(entry) ? http : sockets)).map((entry) => `net ${entry}`),
    ...(isImported(/^boll:capsule\/host(@|$)/) ? [] : grants.spawn.map((name) => `spawn ${name}`)),
    ...(grants.fs.work !== undefined && !files ? ["fs.work"] : []),
    ...(files ? [] : grants.fs.mounts.map(({ guest }) => `fs.mounts ${guest}`)),
  ];
}
