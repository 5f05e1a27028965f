/** A peer that is no boll, and says what a test wants. */

/** What makes a response a stream of events. */
export const EVENT_STREAM = { headers: { "content-type": "text/event-stream" } };

/** A card whose interface is there. */
export function cardOf(url: string, name = "strange"): Response {
  return Response.json({
    name,
    description: "",
    version: "1",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" }],
    capabilities: { streaming: true },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  });
}

/** A stream of these events in answer to a call, each with an id that was never there, which then ends. */
export function eventsOf(call: unknown, ...results: readonly unknown[]): Response {
  const events = results.map((result) =>
    `id: ${crypto.randomUUID()}\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: call, result })}\n\n`
  );
  return new Response(events.join(""), EVENT_STREAM);
}

/** A server that is no boll. */
export function strangePeer(answer: (request: Request) => Response | Promise<Response>) {
  const requests: { readonly path: string; readonly authorization: string | null }[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    requests.push({ path: new URL(request.url).pathname, authorization: request.headers.get("authorization") });
    return answer(request);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
