import { parseEndpoints } from "../../manifest/mod.ts";
import type { Upstream } from "../../manifest/mod.ts";
import type { Intelligence } from "../../protocol/control/mod.ts";

/** The ports that a process connects to for its model: those of its endpoints, or the one of the proxy before them. */
export function modelPorts(
  { uri, dialect }: Pick<Intelligence, "uri" | "dialect">,
  proxyPort?: NonNullable<Upstream["proxy"]>["port"],
): readonly number[] {
  if (dialect === "scripted") return [];
  const ports = parseEndpoints(uri).map(({ origin }) => {
    const { port, protocol } = new URL(origin);
    return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  });
  return [...new Set(proxyPort === undefined ? ports : [...ports, proxyPort])];
}
