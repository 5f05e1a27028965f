/** Text and bytes. QuickJS has no TextEncoder, so UTF-8 goes through the URI functions. */

/** The UTF-8 bytes of `text`. */
export function encodeUtf8(text) {
  return Uint8Array.from(unescape(encodeURIComponent(text)), (char) => char.charCodeAt(0));
}

/** The text of UTF-8 `bytes`; bytes that are not UTF-8 are read as Latin-1. */
export function decodeUtf8(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  try {
    return decodeURIComponent(escape(text));
  } catch {
    return text;
  }
}
