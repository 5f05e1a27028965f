/** Whether a thrown value says that a stream is at its end. */
export function wasiStreamEnd(thrown: unknown): boolean {
  return (thrown as { tag?: unknown } | undefined)?.tag === "closed";
}

/** `text` as bytes. */
export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
