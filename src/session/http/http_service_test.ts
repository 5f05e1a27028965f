import { assertEquals, assertRejects } from "@std/assert";
import {
  encodeChunkData,
  type FromCell,
  MAX_PATH_BYTES,
  STREAM_WINDOW_BYTES,
  type ToCell,
} from "../../protocol/mod.ts";
import type { CallFailure, HttpCall } from "./http_call.ts";
import { HttpService, type ServedRequest } from "./http_service.ts";

/** A service whose cell is the test: what it was sent, and what it says. */
function openService(maxBodyBytes = 1024) {
  const sent: ToCell[] = [];
  const calls: HttpCall[] = [];
  const served: ServedRequest[] = [];
  const service = new HttpService({
    submit(call) {
      calls.push(call);
      call.start(1, (message) => sent.push(message));
    },
    maxBodyBytes,
    onServed: (one) => served.push(one),
  });
  const say = (message: FromCell) => calls.at(-1)!.receive(message);
  const chunk = (text: string, end: boolean) =>
    say({ type: "chunk", id: 1, stream: "response", data: encodeChunkData(new TextEncoder().encode(text)), end });
  const done = () => say({ type: "done", id: 1, value: null });
  return { service, sent, calls, served, say, chunk, done };
}

const settle = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("HttpService: a request goes down as the guest is to see it, a response comes up without its hops", async () => {
  const { service, sent, served, say, chunk, done } = openService();
  const headers = { "connection": "x-hop", "x-hop": "1", "x-end": "2", "te": "trailers", "x-boll-error": "3" };
  const answer = service.handle(new Request("http://a.example:81/x/../y?q=1", { headers }));
  assertEquals(sent[0], {
    type: "call",
    id: 1,
    request: {
      method: "GET",
      scheme: "http",
      authority: "a.example:81",
      path_with_query: "/y?q=1",
      headers: [["x-end", "2"]],
    },
    has_body: false,
  });
  say({ type: "head", id: 1, status: 201, headers: [["x-a", "1"], ["x-a", "2"], ["connection", "x-b"], ["x-b", "3"]] });
  const response = await answer;
  assertEquals([response.status, [...response.headers]], [201, [["x-a", "1, 2"]]]);
  chunk("body", false);
  chunk("", true);
  done();
  assertEquals(await response.text(), "body");
  assertEquals(served.map(({ method, path, status, failed }) => [method, path, status, failed]), [[
    "GET",
    "/y",
    201,
    undefined,
  ]]);
});

Deno.test("HttpService: each failure before a head is its own status, and nothing of its detail is told", async () => {
  const statuses: [CallFailure["failed"], number][] = [
    ...(["trap", "exit", "limit", "memory", "no_response"] as const).map((kind): [typeof kind, number] => [kind, 500]),
    ["deadline", 504],
    ["cell_lost", 502],
    ["overloaded", 503],
    ["draining", 503],
    ["body_too_large", 413],
  ];
  for (const [failed, status] of statuses) {
    const { service, calls } = openService();
    const answer = service.handle(new Request("http://a/"));
    calls[0]!.finish({ failed, detail: "secret detail" });
    const response = await answer;
    assertEquals([response.status, response.headers.get("retry-after")], [status, status === 503 ? "1" : null]);
    assertEquals((await response.text()).includes("secret"), false);
  }
});

Deno.test("HttpService: a head that is not in order never becomes a call", async () => {
  const refused: [number, Request][] = [
    [414, new Request(`http://a/${"x".repeat(MAX_PATH_BYTES)}`)],
    [431, new Request("http://a/", { headers: { x: "v".repeat(65_537) } })],
    [400, new Request("http://a/", { headers: { host: "a/b" } })],
    [400, new Request("http://a/", { headers: { host: "a, b" } })],
    [400, new Request("http://a/", { headers: { "content-length": "1", "transfer-encoding": "chunked" } })],
    [400, new Request("http://a/", { headers: { "content-length": "1, 1" } })],
    [413, new Request("http://a/", { headers: { "content-length": "1025" } })],
  ];
  for (const [status, request] of refused) {
    const { service, calls } = openService();
    const response = await service.handle(request);
    assertEquals([response.status, calls.length], [status, 0]);
    await response.text();
  }
  const { service, calls, say } = openService();
  const answer = service.handle(new Request("http://a/", { headers: { "content-length": "1024", host: "a:80" } }));
  say({ type: "head", id: 1, status: 204, headers: [] });
  assertEquals([(await answer).status, calls.length], [204, 1]);
});

Deno.test("HttpService: a body goes down no faster than it is taken, and ends at the limit", async () => {
  const { service, sent, say } = openService(10 * STREAM_WINDOW_BYTES);
  let asked = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      asked++;
      controller.enqueue(new Uint8Array(65_536));
    },
  }, { highWaterMark: 0 });
  const answer = service.handle(new Request("http://a/", { method: "POST", body }));
  await settle();
  const chunks = () => sent.filter(({ type }) => type === "chunk").length;
  assertEquals([chunks(), asked], [4, 5]);
  say({ type: "credit", id: 1, stream: "request", bytes: 65_536 });
  await settle();
  assertEquals([chunks(), asked], [5, 6]);
  for (let i = 0; i < 40; i++) {
    say({ type: "credit", id: 1, stream: "request", bytes: 65_536 });
    await settle();
  }
  assertEquals([(await answer).status, chunks(), sent.at(-1)?.type], [413, 40, "cancel"]);
});

Deno.test("HttpService: a response is pulled no faster than it is read; breaking off and going away are told", async () => {
  const { service, sent, say, chunk } = openService();
  const answer = service.handle(new Request("http://a/"));
  say({ type: "head", id: 1, status: 200, headers: [] });
  for (const text of ["one", "two"]) chunk(text, false);
  const reader = (await answer).body!.getReader();
  assertEquals(sent.filter(({ type }) => type === "credit").length, 0);
  assertEquals(new TextDecoder().decode((await reader.read()).value), "one");
  assertEquals(sent.at(-1), { type: "credit", id: 1, stream: "response", bytes: 3 });
  await reader.cancel();
  assertEquals(sent.at(-1), { type: "cancel", id: 1 });

  const torn = openService();
  const second = torn.service.handle(new Request("http://a/"));
  torn.say({ type: "head", id: 1, status: 200, headers: [] });
  torn.chunk("part", false);
  torn.say({ type: "done", id: 1, value: null, error: { kind: "trap", detail: "unreachable" } });
  await assertRejects(async () => await (await second).text());
  assertEquals(torn.served[0]?.failed, "trap");
});

Deno.test("HttpService: Deno is kept from compressing what it would, and other heads stay as they are", async () => {
  const type: [string, string] = ["content-type", "text/plain"];
  const cases: [fields: [string, string][], accept: string | undefined, encoding: string | null][] = [
    [[type], "gzip", "identity"],
    [[type], undefined, null],
    [[], "gzip", null],
    [[type, ["content-encoding", "br"]], "br", "br"],
  ];
  for (const [headers, accept, encoding] of cases) {
    const { service, say, chunk, done } = openService();
    const asked = new Request("http://a/", accept === undefined ? {} : { headers: { "accept-encoding": accept } });
    const answer = service.handle(asked);
    say({ type: "head", id: 1, status: 200, headers });
    chunk("", true);
    done();
    const response = await answer;
    assertEquals([response.headers.get("content-encoding"), await response.text()], [encoding, ""]);
  }
});

Deno.test("HttpService: a body that breaks off with its head leaves the head time to go out", async () => {
  const { service, say } = openService();
  const answer = service.handle(new Request("http://a/"));
  say({ type: "head", id: 1, status: 200, headers: [] });
  say({ type: "done", id: 1, value: null, error: { kind: "trap", detail: "unreachable" } });
  const order: string[] = [];
  const read = (await answer).body!.getReader().read().catch(() => order.push("broken"));
  setTimeout(() => order.push("next turn"));
  await read;
  await settle();
  assertEquals(order, ["next turn", "broken"]);
});
