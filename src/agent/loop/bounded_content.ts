/** The longest answer of a tool that a model is given, bytes. */
export const MAX_CONTENT_BYTES = 64 * 1024;

/** A text within its bound; `bytes` is what it had, when something was cut off. */
export interface BoundedText {
  readonly text: string;
  readonly cut?: { readonly kept: number; readonly bytes: number };
}

/** The text up to so many bytes, cut between two characters. */
export function boundedText(text: string, maxBytes: number): BoundedText {
  if (text.length * 3 <= maxBytes) return { text };
  const { read, written } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  if (read === text.length) return { text };
  return { text: text.slice(0, read), cut: { kept: written, bytes: new TextEncoder().encode(text).length } };
}
