/**
 * A port at that address which nobody listens on, as the system chose it or the one that is asked for; nothing when it
 * is taken. A wall that allows one port must know it before it is bound.
 */
export function freePort(hostname: string, port = 0): number | undefined {
  try {
    using listener = Deno.listen({ hostname, port });
    return listener.addr.port;
  } catch {
    return undefined;
  }
}
