import { type Intelligence, parseEndpoints } from "../../protocol/control/mod.ts";

/** What of the network a model needs. */
export interface ModelNetwork {
  /** `host:port` of each endpoint, and of the operator's proxy: all that the loop's thread may reach. */
  readonly net: readonly string[];
  /** Their ports: all that this process may connect to for it. */
  readonly ports: readonly number[];
}

/** What a model's endpoints need; a scripted one needs nothing, and so does a list that cannot be used. */
export function modelNetwork({ uri, dialect }: Intelligence, proxy?: string): ModelNetwork {
  if (dialect === "scripted") return { net: [], ports: [] };
  const endpoints = parseEndpoints(uri);
  if ("fault" in endpoints) return { net: [], ports: [] };
  const urls = proxy === undefined ? endpoints : [...endpoints, new URL(proxy)];
  return {
    net: [...new Set(urls.map((url) => `${url.hostname}:${portOf(url)}`))],
    ports: [...new Set(urls.map(portOf))],
  };
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? protocol === "https:" ? 443 : 80 : Number(port);
}
