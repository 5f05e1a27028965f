/**
 * An A2A client that knows nothing of the door's code or of the SDK: HTTP/1.1, server-sent events and JSON-RPC read by hand
 * over `Deno.connect`.
 * @module
 */

const encoder = new TextEncoder();

/** A reply, its body taken out of its framing. */
export interface WireReply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** One event of a stream. */
export interface WireEvent {
  readonly id: string | undefined;
  readonly type: string;
  // deno-lint-ignore no-explicit-any
  readonly data: any;
}

/** One connection. */
export class WireConnection implements Disposable {
  readonly #connection: Deno.TcpConn;
  #bytes = new Uint8Array(64 * 1024);
  #start = 0;
  #end = 0;

  private constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  static async open(port: number): Promise<WireConnection> {
    return new WireConnection(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** Writes it all. */
  async send(text: string): Promise<void> {
    const bytes = encoder.encode(text);
    for (let written = 0; written < bytes.length;) written += await this.#connection.write(bytes.subarray(written));
  }

  /** Says that nothing more comes. */
  async finish(): Promise<void> {
    await this.#connection.closeWrite();
  }

  /** The next reply; rejects when the connection ends within it. */
  async reply(): Promise<WireReply> {
    const { status, headers } = await this.head();
    if (headers.get("transfer-encoding") === "chunked") return { status, headers, body: await this.#chunks() };
    return { status, headers, body: decode(await this.#take(Number(headers.get("content-length") ?? 0))) };
  }

  /** The next head. */
  async head(): Promise<Omit<WireReply, "body">> {
    const lines: string[] = [];
    for (let line = await this.#line(); line !== ""; line = await this.#line()) lines.push(line);
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(lines[0] ?? "") ?? [];
    if (status === undefined) throw new Error(`no status line: ${JSON.stringify(lines[0])}`);
    const headers = new Map(
      lines.slice(1).map((field) => {
        const colon = field.indexOf(":");
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const;
      }),
    );
    return { status: Number(status), headers };
  }

  /** All that comes until the end of the connection. */
  async rest(): Promise<string> {
    while (await this.#read());
    return decode(await this.#take(this.#end - this.#start));
  }

  /** The events of a stream, to its end; comments are given with the type `comment`. */
  async *events(): AsyncGenerator<WireEvent> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let text = "";
    for (let chunk = await this.#chunk(); chunk.length > 0; chunk = await this.#chunk()) {
      const events = (text + decoder.decode(chunk, { stream: true })).split("\n\n");
      text = events.pop()!;
      for (const event of events) yield readEvent(event);
    }
    if (text !== "") throw new Error("the stream ends within an event");
  }

  [Symbol.dispose](): void {
    try {
      this.#connection.close();
    } catch { /* it is closed */ }
  }

  async #chunks(): Promise<string> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let body = "";
    for (let chunk = await this.#chunk(); chunk.length > 0; chunk = await this.#chunk()) {
      body += decoder.decode(chunk, { stream: true });
    }
    return body;
  }

  /** The data of the next chunk, empty at the end. */
  async #chunk(): Promise<Uint8Array> {
    const data = (await this.#take(parseInt(await this.#line(), 16))).slice();
    if (await this.#line() !== "") throw new Error("a chunk does not end where it says");
    return data;
  }

  async #line(): Promise<string> {
    for (let from = this.#start;;) {
      const at = this.#bytes.subarray(0, this.#end).indexOf(10, from);
      if (at >= 0) {
        if (this.#bytes[at - 1] !== 13) throw new Error("a line feed without a carriage return");
        const line = decode(this.#bytes.subarray(this.#start, at - 1));
        this.#start = at + 1;
        return line;
      }
      const scanned = this.#end - this.#start;
      if (!await this.#read()) throw new Error("the connection ended");
      from = this.#start + scanned;
    }
  }

  /** The next bytes; valid until the next call. */
  async #take(count: number): Promise<Uint8Array> {
    while (this.#end - this.#start < count) if (!await this.#read()) throw new Error("the connection ended");
    const bytes = this.#bytes.subarray(this.#start, this.#start + count);
    this.#start += count;
    return bytes;
  }

  async #read(): Promise<boolean> {
    if (this.#end === this.#bytes.length) {
      const held = this.#bytes.subarray(this.#start, this.#end);
      const larger = held.length * 2 > this.#bytes.length ? new Uint8Array(this.#bytes.length * 2) : this.#bytes;
      larger.set(held);
      [this.#bytes, this.#start, this.#end] = [larger, 0, held.length];
    }
    const count = await this.#connection.read(this.#bytes.subarray(this.#end)).catch(() => null);
    this.#end += count ?? 0;
    return count !== null;
  }
}

/** What {@link request} writes beside the line. */
export interface RequestOptions {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request as text. */
export function request(port: number, { method = "POST", path = "/", headers = {}, body }: RequestOptions): string {
  const fields = {
    "host": `127.0.0.1:${port}`,
    ...(body !== undefined &&
      { "content-type": "application/json", "content-length": `${encoder.encode(body).length}` }),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`;
}

/** One request on a connection of its own. */
export async function ask(port: number, options: RequestOptions): Promise<WireReply> {
  using connection = await WireConnection.open(port);
  await connection.send(request(port, options));
  return await connection.reply();
}

/** Headers of a call by JSON-RPC. */
export function callHeaders(token: string): Record<string, string> {
  return { "authorization": `Bearer ${token}`, "a2a-version": "1.0" };
}

/** One call by JSON-RPC on a connection of its own: all of the envelope that came back. */
export async function call(
  port: number,
  method: string,
  params: unknown,
  { token = "owner-token", headers = {} }: { token?: string; headers?: Record<string, string> } = {},
  // deno-lint-ignore no-explicit-any
): Promise<any> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
  const reply = await ask(port, { headers: { ...callHeaders(token), ...headers }, body });
  return JSON.parse(reply.body);
}

/** Opens a stream by JSON-RPC. The caller closes the connection. */
export async function openStream(
  port: number,
  method: string,
  params: unknown,
  headers: Record<string, string> = {},
): Promise<WireConnection> {
  const connection = await WireConnection.open(port);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
  await connection.send(request(port, { headers: { ...callHeaders("owner-token"), ...headers }, body }));
  return connection;
}

/** A message of one text. */
export function message(text: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { message: { messageId: `m-${text.slice(0, 20)}`, role: "ROLE_USER", parts: [{ text }], ...more } };
}

function readEvent(text: string): WireEvent {
  let [id, type]: [string | undefined, string] = [undefined, "message"];
  const data: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith(":")) type = "comment";
    else if (line.startsWith("id: ")) id = line.slice(4);
    else if (line.startsWith("event: ")) type = line.slice(7);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
    else throw new Error(`no line of an event: ${JSON.stringify(line)}`);
  }
  return {
    id,
    type,
    get data() {
      return data.length === 0 ? undefined : JSON.parse(data.join("\n"));
    },
  };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}
