/**
 * What a guest with a network, or one that serves, has beside the rest of the host: a room's side door, since it is half
 * of the host's code and most runs have neither. They never load it.
 * @module
 */
import type { Denial } from "./host.ts";
import { httpTypeImports, outgoingHandlerImports } from "./http/http.ts";
import { IdleWires } from "./http/idle_wires.ts";
import { GateWay } from "./net/gate_way.ts";
import { NetCheck } from "./net/net_check.ts";
import type { NetworkAccess } from "./net/network_access.ts";
import { OpenEnds } from "./net/open_ends.ts";
import { Sockets } from "./sockets/sockets.ts";

export { openExchange } from "./http/incoming_exchange.ts";
export type { IncomingExchange, ServedAnswer, ServedRequest } from "./http/incoming_exchange.ts";

/** What of the network is linked to one guest. */
export interface NetworkLink {
  readonly imports: Record<string, Record<string, unknown>>;
  /** Settles when what the guest wrote to sockets has gone out, or after a while. Then none is open. */
  settle(): Promise<void>;
  /** Closes every connection, listener and socket at once. */
  cut(): void;
}

/** Both network packages, whatever the entries: which of them is linked is the imports' wall, and each call is checked. */
export function openNetwork(access: NetworkAccess, onDenied: (denial: Denial) => void): NetworkLink {
  const check = new NetCheck(access.entries, onDenied);
  const way = new GateWay(access);
  const idle = new IdleWires();
  const [requests, ends] = [new OpenEnds(), new OpenEnds()];
  const sockets = new Sockets({ access, way, check, ends });
  const cut = () => {
    requests.endAll();
    idle.close();
    ends.endAll();
  };
  return {
    imports: {
      ...httpTypeImports(),
      ...outgoingHandlerImports({ gate: way, idle, ends: requests }, check),
      ...sockets.imports(),
    },
    cut,
    async settle() {
      requests.endAll();
      idle.close();
      await sockets.settle();
      cut();
    },
  };
}

/** For a service without a network: it is handed requests, so that it has `wasi:http/types`, and nothing to open. */
export function linkHttpTypes(): NetworkLink {
  return { imports: httpTypeImports(), settle: () => Promise.resolve(), cut() {} };
}
