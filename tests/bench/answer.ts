/** Where the first answer in `bytes` ends, or undefined while it is not all there. */
export function findAnswerEnd(bytes: Uint8Array): number | undefined {
  const text = new TextDecoder("latin1").decode(bytes);
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd);
  const bodyStart = headEnd + 4;
  const length = /^content-length: *(\d+)$/im.exec(head.replaceAll("\r", ""))?.[1];
  if (length !== undefined) {
    const end = bodyStart + Number(length);
    return end <= bytes.length ? end : undefined;
  }
  return findLastChunkEnd(text, bodyStart);
}

function findLastChunkEnd(text: string, bodyStart: number): number | undefined {
  for (let at = bodyStart;;) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = parseInt(text.slice(at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error(`Read an answer: found no chunk at ${at}, wanted one or a content-length`);
    at = lineEnd + 2 + size + 2;
    if (at > text.length) return undefined;
    if (size === 0) return at;
  }
}

/** The status of an answer. @throws Error when its first line has none */
export function statusOf(bytes: Uint8Array): number {
  const line = new TextDecoder("latin1").decode(bytes.subarray(0, 32));
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1];
  if (status === undefined) throw new Error(`Read an answer: found ${JSON.stringify(line)}, wanted a status line`);
  return Number(status);
}
