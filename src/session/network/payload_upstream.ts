import { parseProxy } from "../../manifest/mod.ts";
import type { SpawnPayload } from "../../protocol/control/mod.ts";
import { readCertificates } from "./read_certificates.ts";
import type { RunUpstream } from "./run_network.ts";

/** The operator's proxy and certificates. */
export function upstreamOf(
  { upstream, tls_ca }: Pick<SpawnPayload, "upstream" | "tls_ca">,
): { upstream?: RunUpstream } {
  if (upstream === undefined && tls_ca === undefined) return {};
  return {
    upstream: {
      ...(upstream?.proxy === undefined ? {} : { proxy: parseProxy(upstream.proxy) }),
      certificates: [...upstream?.ca_certs ?? [], ...(tls_ca === undefined ? [] : [readCertificates(tls_ca)])],
    },
  };
}
