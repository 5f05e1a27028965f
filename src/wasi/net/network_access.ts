import type { NetEntry } from "../../grants/mod.ts";

/** What a look-up gave: addresses that may be connected to, or why there are none. */
export type Resolution =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly error: string };

/** A run's way to the network. The credential stays in this room; no object that a guest holds leads to it. */
export interface NetworkAccess {
  readonly entries: readonly NetEntry[];
  /** The gate in the cell's parent; absent when no entry needs one. */
  readonly gate?: {
    /** On 127.0.0.1. */
    readonly port: number;
    /** `user:password`. */
    readonly credential: string;
  };
  /** PEM certificates to trust beside the built-in ones. */
  readonly caCerts: readonly string[];
  /** Peers of `udp` entries that are names, as `address:port`. */
  readonly udpPeers: readonly string[];
  /** Port: the gate looks a granted name up. Never rejects. */
  resolve(name: string): Promise<Resolution>;
}
