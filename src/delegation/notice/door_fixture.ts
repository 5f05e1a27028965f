import { judgeNotice, type NoticeReceiver } from "../../door/judge_notice.ts";

/** What came to a door: one request. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A parent's door on loopback: a real listener. */
export interface Door extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly arrivals: readonly Arrival[];
  /** Settles with the first request. */
  readonly arrived: Promise<void>;
}

/** Opens a door that answers as `answer` does. */
export function openDoor(answer: (arrival: Arrival) => Response | Promise<Response>, port = 0): Door {
  const arrivals: Arrival[] = [];
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, async (request) => {
    const { method, headers, url } = request;
    const arrival = { method, path: new URL(url).pathname, headers, body: await request.text() };
    arrivals.push(arrival);
    resolve();
    return await answer(arrival);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    port: server.addr.port,
    arrivals,
    arrived,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Answers as a session's door does: by the headers, in JSON-RPC. */
export function doorOf(receiver: NoticeReceiver): (arrival: Arrival) => Response {
  return ({ headers, body }) => {
    const { id } = JSON.parse(body);
    const verdict = judgeNotice(headers, receiver);
    if (verdict.kind === "accepted") return Response.json({ jsonrpc: "2.0", id, result: { message: {} } });
    return Response.json({ jsonrpc: "2.0", id, error: { code: verdict.code, message: verdict.message } });
  };
}

/** A listener that speaks bytes: what no server would send. */
export function openRawDoor(
  speak: (connection: Deno.Conn) => Promise<void>,
): { readonly url: string } & AsyncDisposable {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(64 * 1024));
      await speak(connection).catch(() => {});
      try {
        connection.close();
      } catch { /* it is closed */ }
    }
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}/`,
    async [Symbol.asyncDispose]() {
      listener.close();
      await served;
    },
  };
}

/** A port of loopback at which nothing listens. */
export function closedPort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
