import { type Gate, type GateConnection, openGate } from "../../egress/mod.ts";
import { type Grants, isIpLiteral, type NetEntry, type NetPlaces, parseNetEntry } from "../../grants/mod.ts";
import type { Upstream } from "../../manifest/mod.ts";
import type { CellNetwork, HostResult, ResolveCall } from "../../protocol/mod.ts";
import type { TraceWriter } from "../../records/mod.ts";
import { readCertificates } from "./read_certificates.ts";
import type { Denied } from "../cell/run_cell.ts";

/** What the operator put between the gate and the network: a proxy, and certificates in a file or as PEM texts. */
export interface RunUpstream extends Pick<Upstream, "proxy" | "ca"> {
  readonly certificates?: readonly string[];
}

/** What the network of a run is opened with. */
export interface RunNetworkOptions {
  readonly grants: Grants;
  readonly upstream?: RunUpstream;
  readonly trace: TraceWriter;
  onDenied(denied: Denied): void;
}

const MAX_CALLS = 32;

/** The gate of one run, and what its cell is told of it. */
export class RunNetwork implements AsyncDisposable {
  /** For the cell's first frame, and no record: it holds the credential. */
  readonly cell: CellNetwork;
  /** What the walls of the cell are made with. */
  readonly places: NetPlaces;
  /** What the ceiling of this process is made with. */
  readonly supervisor: { readonly gatePort: number; readonly proxy?: { readonly port: number } };
  readonly #gate: Gate;
  #calls = 0;

  private constructor(gate: Gate, udpPeers: readonly string[], { upstream }: RunNetworkOptions) {
    this.#gate = gate;
    const { user, password } = gate.credential;
    this.cell = {
      gate_port: gate.port,
      credential: `${user}:${password}`,
      ca_certs: [
        ...upstream?.certificates ?? [],
        ...(upstream?.ca === undefined ? [] : [readCertificates(upstream.ca)]),
      ],
      udp_peers: udpPeers,
    };
    this.places = { gatePort: gate.port, udpPeers };
    this.supervisor = { gatePort: gate.port, ...(upstream?.proxy === undefined ? {} : { proxy: upstream.proxy }) };
  }

  /**
   * Opens the gate, and looks up the peers of `udp` entries. Before this process confines itself: the gate listens then.
   *
   * @throws `workspace.invalid` when the file of certificates is none
   */
  static async open(options: RunNetworkOptions): Promise<RunNetwork> {
    const entries = options.grants.net.map(parseNetEntry);
    const proxy = options.upstream?.proxy;
    const gate = openGate({
      entries,
      ...(proxy === undefined ? {} : { upstream: proxy }),
      onConnection: (connection) => options.trace.append("connection", connectionEvent(connection)),
      onDenied: ({ grant, asked, allow }) => options.onDenied({ grant, asked, allow: flagFor(allow) }),
    });
    try {
      return new RunNetwork(gate, await findPeers(gate, entries), options);
    } catch (error) {
      await gate.close();
      throw error;
    }
  }

  /** Answers a call of the cell; too many at once are refused. Never rejects. */
  async answer({ id, args }: ResolveCall): Promise<HostResult> {
    if (this.#calls >= MAX_CALLS) return { id, error: "dns-timeout" };
    this.#calls++;
    try {
      const found = await this.#gate.resolveName(args.name);
      return found.ok ? { id, value: { addresses: found.addresses } } : { id, error: found.error };
    } catch {
      return { id, error: "closed" };
    } finally {
      this.#calls--;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#gate.close();
  }
}

/** The peers of entries that name a host, as `address:port`: what a datagram may go to, for the whole run. */
async function findPeers(gate: Gate, entries: readonly NetEntry[]): Promise<string[]> {
  const named = entries.filter(({ scheme, host, wildcard }) => scheme === "udp" && !wildcard && !isIpLiteral(host));
  const found = await Promise.all(named.map(async ({ host, port }) => {
    const answer = await gate.resolveName(host);
    if (!answer.ok) return [];
    return answer.addresses.map((address) => `${address.includes(":") ? `[${address}]` : address}:${port}`);
  }));
  return found.flat();
}

function connectionEvent(connection: GateConnection) {
  const { host, port, address, entry, outcome, error, bytes_up, bytes_down } = connection;
  return {
    host,
    port,
    ...(address === undefined ? {} : { address }),
    grant: entry,
    outcome,
    ...(error === undefined ? {} : { error }),
    bytes_up,
    bytes_down,
  };
}

function flagFor(entry: string | undefined): string {
  return entry === undefined ? "no entry can allow it" : `--net ${entry} or "net": ["${entry}"] in grants`;
}
