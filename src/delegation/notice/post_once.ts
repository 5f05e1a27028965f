/** One request. Header values are one line of visible ASCII. */
export interface PostRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What came back: a reply of HTTP, read whole, or why there is none. */
export type PostReply =
  | { readonly kind: "reply"; readonly status: number; readonly body: Uint8Array }
  | { readonly kind: "failed"; readonly reason: string };

/** The longest reply that is read, bytes; its head has as much again. */
export const MAX_REPLY_BYTES = 64 * 1024;

const HEAD_END = new Uint8Array([13, 10, 13, 10]);

/**
 * Posts once to a loopback door and reads a bounded reply, all of it within the time. As HTTP/1.0, whose replies end with
 * their length or their connection, by hand: `fetch` takes a proxy from the environment and follows redirects, and
 * `node:http` keeps the connection of a reply that it was told to drop.
 */
export async function postOnce(address: URL, request: PostRequest, timeoutMs: number): Promise<PostReply> {
  const { promise: overdue, resolve } = Promise.withResolvers<PostReply>();
  const timer = setTimeout(() => resolve(failed(`no answer within ${timeoutMs} ms`)), timeoutMs);
  const connecting = Deno.connect({
    hostname: address.hostname.replace(/^\[|\]$/g, ""),
    port: Number(address.port || 80),
  });
  const exchanged = connecting.then((connection) => exchange(connection, address, request))
    .catch((error) => failed(reasonOf(error, address)));
  try {
    return await Promise.race([exchanged, overdue]);
  } finally {
    clearTimeout(timer);
    connecting.then((connection) => connection.close(), () => {});
  }
}

async function exchange(connection: Deno.TcpConn, address: URL, { headers, body }: PostRequest): Promise<PostReply> {
  const encoder = new TextEncoder();
  const bodyBytes = encoder.encode(body).length;
  const fields = Object.entries({ host: address.host, ...headers, "content-length": `${bodyBytes}` });
  const unfit = fields.find(([, value]) => !/^[\x20-\x7e]*$/.test(value));
  if (unfit !== undefined) return failed(`the header ${unfit[0]} would hold what no header may`);
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  // In one piece: a door that answers before it has read all would reset the connection, and the answer be lost.
  await writeWhole(connection, encoder.encode(`POST ${address.pathname} HTTP/1.0\r\n${head}\r\n${body}`));
  return await readReply(connection);
}

async function writeWhole(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await connection.write(bytes.subarray(written));
}

async function readReply(connection: Deno.TcpConn): Promise<PostReply> {
  const buffer = new Uint8Array(2 * MAX_REPLY_BYTES);
  let length = 0;
  let head: ReplyHead | undefined;
  for (;;) {
    const count = length === buffer.length ? 0 : await connection.read(buffer.subarray(length));
    if (count === 0) return failed("the parent's reply has a head without end");
    length += count ?? 0;
    head ??= headOf(buffer.subarray(0, length));
    if (head !== undefined) {
      if (head.status === undefined) return failed("the parent's reply is no HTTP");
      const { status, bodyAt, bodyBytes } = head;
      const hasAll = length - bodyAt >= (bodyBytes ?? Infinity);
      if ((bodyBytes ?? length - bodyAt) > MAX_REPLY_BYTES) {
        return failed(`the parent's reply is longer than ${MAX_REPLY_BYTES} bytes`);
      }
      if (hasAll || (count === null && bodyBytes === undefined)) {
        return { kind: "reply", status, body: buffer.subarray(bodyAt, hasAll ? bodyAt + bodyBytes! : length) };
      }
    }
    if (count === null) return failed(`the connection ended ${length === 0 ? "before" : "within"} the reply`);
  }
}

/** Where a reply's body begins and how long it is; no status when it is not of HTTP/1, or in a coding that 1.0 has not. */
interface ReplyHead {
  readonly status: number | undefined;
  readonly bodyAt: number;
  readonly bodyBytes: number | undefined;
}

function headOf(bytes: Uint8Array): ReplyHead | undefined {
  const end = indexOf(bytes, HEAD_END);
  if (end === -1) return undefined;
  const text = new TextDecoder("latin1").decode(bytes.subarray(0, end + 2));
  const [, status] = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(text) ?? [];
  const [, length] = /\r\ncontent-length:[ \t]*(\d{1,15})[ \t]*\r\n/i.exec(text) ?? [];
  const isCoded = /\r\ntransfer-encoding:/i.test(text);
  return {
    status: status === undefined || isCoded ? undefined : Number(status),
    bodyAt: end + HEAD_END.length,
    bodyBytes: length === undefined ? undefined : Number(length),
  };
}

function indexOf(bytes: Uint8Array, wanted: Uint8Array): number {
  for (let at = bytes.indexOf(wanted[0]!); at !== -1; at = bytes.indexOf(wanted[0]!, at + 1)) {
    if (wanted.every((byte, offset) => bytes[at + offset] === byte)) return at;
  }
  return -1;
}

function reasonOf(error: unknown, { host }: URL): string {
  if (error instanceof Deno.errors.ConnectionRefused) return `nothing listens at ${host}`;
  return `the connection to ${host} failed (${error instanceof Error ? error.name : "unknown"})`;
}

function failed(reason: string): PostReply {
  return { kind: "failed", reason };
}
