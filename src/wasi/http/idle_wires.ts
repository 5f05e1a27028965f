import { formatPlace, type OpenWire, type Place } from "../net/gate_way.ts";
import { closeQuietly } from "../net/wire.ts";

const MAX_IDLE = 8;

/**
 * Connections with TLS that wait for another request to the same place, the newest first; a handshake costs more than
 * a request. The oldest is closed when there are too many.
 */
export class IdleWires {
  readonly #idle: { readonly key: string; readonly open: OpenWire }[] = [];

  /** One for this place, if there is one. The other side may have closed it meanwhile. */
  take(place: Place): OpenWire | undefined {
    const index = this.#idle.findIndex(({ key }) => key === formatPlace(place));
    return index < 0 ? undefined : this.#idle.splice(index, 1)[0]!.open;
  }

  /** Keeps one. */
  put(place: Place, open: OpenWire): void {
    this.#idle.unshift({ key: formatPlace(place), open });
    for (const { open } of this.#idle.splice(MAX_IDLE)) closeQuietly(open.wire);
  }

  /** Closes all. */
  close(): void {
    for (const { open } of this.#idle.splice(0)) closeQuietly(open.wire);
  }
}
