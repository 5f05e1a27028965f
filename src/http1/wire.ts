/** The part of a `Deno.Conn` that is used. */
export interface Wire {
  /** Bytes read, or null at the end of the stream. */
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  closeWrite(): Promise<void>;
  close(): void;
  /** The other end, as the system says it. */
  readonly remoteAddr: Deno.Addr;
}
