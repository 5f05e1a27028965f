import { matchesNet, type NetEntry, type NetTarget } from "../../grants/mod.ts";
import type { Denial } from "../host.ts";
import { formatPlace } from "./gate_way.ts";

const MAX_DENIALS = 100;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { https: 443, http: 80 };

/** The entries of a run, and the refusals of what they do not allow: each told once, the first hundred of a run. */
export class NetCheck {
  readonly entries: readonly NetEntry[];
  readonly #onDenied: (denial: Denial) => void;
  readonly #told = new Set<string>();

  constructor(entries: readonly NetEntry[], onDenied: (denial: Denial) => void) {
    this.entries = entries;
    this.#onDenied = onDenied;
  }

  /** Whether an entry allows it. A refusal is not told yet. */
  allows(target: NetTarget): boolean {
    return matchesNet(this.entries, target) !== undefined;
  }

  /** Whether any entry names this host, whatever the scheme and port. */
  allowsName(host: string): boolean {
    return this.entries.some(({ scheme, port }) => scheme !== "listen" && this.allows({ scheme, host, port }));
  }

  /** Tells that `target` was refused. */
  deny({ scheme, host, port }: NetTarget): void {
    const place = port === DEFAULT_PORTS[scheme] ? formatPlace({ host, port }).replace(/:\d+$/, "") : undefined;
    const entry = scheme === "listen" ? `listen:${port}` : `${scheme}://${place ?? formatPlace({ host, port })}`;
    this.#tell(entry, entry);
  }

  /** Tells that a name was not looked up. */
  denyName(host: string): void {
    this.#tell(`resolve ${host}`, `tcp://${host}:PORT`);
  }

  #tell(asked: string, entry: string): void {
    if (this.#told.size >= MAX_DENIALS || this.#told.has(asked)) return;
    this.#told.add(asked);
    this.#onDenied({ grant: "net", asked, allow: `--net ${entry} or "net": ["${entry}"] in grants` });
  }
}
