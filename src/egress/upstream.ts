import { closeQuietly, encodeHead, readHead, type Wire, WireReader, writeWhole } from "../http1/mod.ts";
import { untilAborted } from "./names.ts";
import type { Upstream } from "./options.ts";
import { Refusal } from "./refusal.ts";
import { type Authority, formatAuthority } from "./request.ts";

const MAX_REPLY_BYTES = 16_384;

/**
 * Asks the operator's proxy, on a fresh connection to it, for a tunnel. It is given the name and not an address that was
 * checked here: such proxies allow by name, and stand where outside names often cannot be resolved at all. What the
 * gate can still do it has done before: the entry matched, and a name that resolves here to a prohibited address is
 * refused. What that leaves open, and the proxy's own rules must close: a name that has other addresses there.
 *
 * @throws {Refusal} `upstream-failed`, or `connection-timeout` when the signal comes first.
 */
export async function connectThrough(
  { credential }: Upstream,
  wire: Wire,
  target: Authority,
  signal: AbortSignal,
): Promise<WireReader> {
  const reader = new WireReader(wire);
  try {
    const head = await untilAborted(askForTunnel(wire, reader, formatAuthority(target), credential), signal);
    const status = /^HTTP\/1\.[01] (\d{3})( |$)/.exec(head?.line ?? "")?.[1];
    if (status?.startsWith("2") !== true) {
      throw new Refusal("upstream-failed", `Connect through the upstream proxy: it answers ${status ?? "no HTTP"}`);
    }
    return reader;
  } catch (error) {
    closeQuietly(wire);
    if (error instanceof Refusal) throw error;
    if (signal.aborted) {
      throw new Refusal("connection-timeout", "Connect through the upstream proxy: no answer in time");
    }
    throw new Refusal("upstream-failed", "Connect through the upstream proxy: it gives no answer that is one");
  }
}

async function askForTunnel(wire: Wire, reader: WireReader, authority: string, credential: string | undefined) {
  const bytes = encodeHead(`CONNECT ${authority} HTTP/1.1`, [
    ["host", authority],
    ...(credential === undefined ? [] : [["proxy-authorization", `Basic ${encodeBasic(credential)}`] as const]),
  ]);
  await writeWhole(wire, bytes);
  return await readHead(reader, MAX_REPLY_BYTES);
}

function encodeBasic(credential: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(credential)));
}
